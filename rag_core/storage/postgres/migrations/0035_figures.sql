-- The pictures and charts of a page: the span of the caption, the picture's name in the file, and the box on the page.
ALTER TABLE pages ADD COLUMN figures jsonb NOT NULL DEFAULT '[]';
