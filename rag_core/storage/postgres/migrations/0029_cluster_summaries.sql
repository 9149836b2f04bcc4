-- Sentences that tell of each cluster of chunks. Summaries and clusters are derived: those that no model wrote are made
-- again in the background, with clusters in short documents too.
ALTER TABLE chunk_clusters ADD COLUMN summary text NOT NULL DEFAULT '';
DELETE FROM document_summaries WHERE NOT written;
