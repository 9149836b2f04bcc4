-- A job that was cleared from its page is listed no longer, and counted until it is forgotten by its age.
ALTER TABLE jobs ADD COLUMN cleared boolean NOT NULL DEFAULT false;
