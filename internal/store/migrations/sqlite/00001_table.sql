-- +goose Up
-- Times are microseconds since 1970; the largest integer stands for never.

CREATE TABLE deliveries (
	id          TEXT NOT NULL PRIMARY KEY,
	event       TEXT NOT NULL,
	action      TEXT NOT NULL,
	received_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX deliveries_received ON deliveries (received_at);

CREATE TABLE work (
	id       INTEGER PRIMARY KEY,
	key      TEXT NOT NULL UNIQUE,
	tenant   INTEGER NOT NULL,
	kind     TEXT NOT NULL,
	grp      TEXT NOT NULL,
	gen      INTEGER NOT NULL,            -- one more with each poke
	claimed  INTEGER NOT NULL DEFAULT 0,  -- gen when it was leased
	due_at   INTEGER NOT NULL,            -- while it is leased: when the lease runs out
	since    INTEGER NOT NULL DEFAULT 0,  -- while it is leased: what due_at was before
	leased   INTEGER NOT NULL DEFAULT 0,
	token    INTEGER NOT NULL DEFAULT 0,
	touches  TEXT NOT NULL DEFAULT '',    -- of pokes since the last claim, one in a line
	taken    TEXT NOT NULL DEFAULT '',    -- handed out with a lease, and not known to have been looked at
	attempts INTEGER NOT NULL DEFAULT 0,
	failed   TEXT NOT NULL DEFAULT '',
	wake_at  INTEGER NOT NULL DEFAULT 9223372036854775807,
	seen_at  INTEGER NOT NULL DEFAULT 0,
	open     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX work_due ON work (tenant, due_at);
CREATE INDEX work_seen ON work (seen_at);
CREATE INDEX work_open ON work (seen_at) WHERE open = 1;
CREATE INDEX work_leased ON work (due_at) WHERE leased = 1;
CREATE INDEX work_grp ON work (grp);

-- What was seen is large and seldom wanted: apart from it, rows of work stay small.
CREATE TABLE sights (
	id    INTEGER PRIMARY KEY, -- of the row of work
	sight BLOB NOT NULL
);

-- How often the file was opened. A token holds it, so that none is used twice.
CREATE TABLE epoch (n INTEGER NOT NULL);
INSERT INTO epoch (n) VALUES (0);
