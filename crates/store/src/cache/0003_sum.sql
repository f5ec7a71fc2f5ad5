-- A checksum of the row, so that one that was damaged on the disk is not taken for a reply. Older rows have none.
ALTER TABLE replies ADD COLUMN sum INTEGER;
