-- Every server hears which tables were changed, once for each transaction, and by whom: what it remembers of them is out
-- of date. The name of a connection says whose it is.
CREATE OR REPLACE FUNCTION lectern_notice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('lectern', TG_TABLE_NAME || ' ' || current_setting('application_name'));
    RETURN NULL;
END $$;

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'changes', 'documents', 'document_tags', 'sources', 'recognised_pages', 'table_readings', 'preferences',
        'access_keys', 'followed_sources', 'document_summaries', 'document_clusters', 'chunk_clusters'
    ] LOOP
        EXECUTE format('CREATE TRIGGER lectern_notice AFTER INSERT OR UPDATE OR DELETE ON %I'
            ' FOR EACH STATEMENT EXECUTE FUNCTION lectern_notice()', name);
    END LOOP;
END $$;
