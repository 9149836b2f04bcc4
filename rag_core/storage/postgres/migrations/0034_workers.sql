-- A server that takes jobs of some lanes alone, and serves nothing, is a worker; a server takes whatever it is given.
ALTER TABLE servers ADD COLUMN lanes text[];
-- Whoever carries a job out elsewhere is to stop it.
ALTER TABLE jobs ADD COLUMN stopping boolean NOT NULL DEFAULT false;
