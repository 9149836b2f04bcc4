-- Every candidate of a search is read with its pieces: they stand in its row, as far as that has room, instead of in
-- another table. Rows that are there already keep them where they are, until their documents are chunked again.
ALTER TABLE chunks ALTER COLUMN pieces SET STORAGE MAIN;
ALTER TABLE chunks SET (toast_tuple_target = 3400);
