-- A question that was deleted with its conversation is told of nowhere.
DELETE FROM queries WHERE message_id IS NULL;
ALTER TABLE queries
    DROP CONSTRAINT queries_message_id_fkey,
    ADD CONSTRAINT queries_message_id_fkey FOREIGN KEY (message_id) REFERENCES messages ON DELETE CASCADE;
