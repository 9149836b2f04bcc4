-- The vectors of a chunk's pieces, from the pass that made its own: 8 bits a component, a row after the other, each as
-- wide as the chunk's vector. Null for chunks that were embedded before there were pieces, and for models without them.
ALTER TABLE chunks ADD COLUMN pieces bytea;
ALTER TABLE new_vectors ADD COLUMN pieces bytea;

-- Quantised vectors do not pack: trying to would cost time with every commit and every read.
ALTER TABLE chunks ALTER COLUMN pieces SET STORAGE EXTERNAL;
ALTER TABLE new_vectors ALTER COLUMN pieces SET STORAGE EXTERNAL;
