-- +goose Up
-- Whether this is a copy of another store: one row while it is made, and until the first coordinator opens it.

CREATE TABLE copies (
	source      TEXT NOT NULL,    -- names the store that it is a copy of, without a password
	begun_at    INTEGER NOT NULL,
	finished_at INTEGER NOT NULL  -- 0: it is not all there
);
