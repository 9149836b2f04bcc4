-- The span of a page's text that is cut into chunks, without running titles and page numbers; all of it where there is none.
ALTER TABLE pages ADD COLUMN body_start integer, ADD COLUMN body_end integer;
