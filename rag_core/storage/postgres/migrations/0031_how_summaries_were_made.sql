-- How a document was summarised and its chunks clustered: where the settings say otherwise it is done again. So it is,
-- once, where a model wrote a summary, which is embedded itself from now on.
ALTER TABLE document_summaries ADD COLUMN made_by text NOT NULL DEFAULT '';
UPDATE document_summaries SET made_by = 'mixture, pca, extractive' WHERE NOT written;
