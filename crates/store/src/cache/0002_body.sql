-- What was received, word for word, beside what was made of it in `reply`. Rows of the first version have it in there.
ALTER TABLE replies ADD COLUMN body TEXT;
