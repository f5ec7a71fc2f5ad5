-- A checksum of the row, so that one that was damaged on the disk is not taken for a reply. Older rows have none.
ALTER TABLE replies ADD COLUMN sum INTEGER;
-- Replies are looked for by age when the cache is made smaller, which may take a look at all of them; the index of it was
-- written with every reply.
DROP INDEX replies_by_age;
