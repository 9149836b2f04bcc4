-- The cards of letters are made anew: whoever signed one was not known, and a date that it tells of was taken for its own.
UPDATE documents SET card_version = 0
WHERE card_version > 0 AND card ->> 'kind' = 'letter' AND media_type <> 'application/pdf';
