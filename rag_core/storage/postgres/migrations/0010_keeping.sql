-- Conversations are pinned; an answer's mark has a reason; a question that was asked again sets aside the exchanges from
-- the earlier one on, which come back when it goes. A citation says whether its passage reads like an instruction to the
-- model that answers.

ALTER TABLE conversations ADD COLUMN pinned boolean NOT NULL DEFAULT false;
ALTER TABLE messages ADD COLUMN reason text NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN replaced_by text REFERENCES messages ON DELETE SET NULL;
CREATE INDEX messages_replaced ON messages (replaced_by) WHERE replaced_by IS NOT NULL;
ALTER TABLE citations ADD COLUMN instructs boolean NOT NULL DEFAULT false;
