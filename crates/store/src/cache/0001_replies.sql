-- One usable reply of a model. `key` identifies the call; `reply` is the reply as JSON.
CREATE TABLE replies (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    model   TEXT    NOT NULL,
    created INTEGER NOT NULL,
    reply   TEXT    NOT NULL
) STRICT;

CREATE INDEX replies_by_age ON replies (created);
