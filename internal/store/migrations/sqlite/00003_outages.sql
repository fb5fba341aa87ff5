-- +goose Up
-- How reviewers' services fared, and what was done about it: the newest signs of each reviewer in a repository.

CREATE TABLE signs (
	grp      TEXT NOT NULL,
	reviewer TEXT NOT NULL,
	kind     INTEGER NOT NULL,
	shown_by TEXT NOT NULL,     -- names what shows it
	tenant   INTEGER NOT NULL,
	pull     INTEGER NOT NULL,
	author   TEXT NOT NULL,
	shown_at INTEGER NOT NULL,
	until_at INTEGER NOT NULL,  -- 0: no time
	PRIMARY KEY (grp, reviewer, kind, shown_by)
) WITHOUT ROWID;
CREATE INDEX signs_tenant ON signs (tenant);
