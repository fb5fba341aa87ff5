-- +goose Up
-- Reviewers' newest answers and whether they were understood, a few of each reviewer in a repository.

CREATE TABLE heard (
	grp      TEXT NOT NULL,
	reviewer TEXT NOT NULL,
	text     TEXT NOT NULL,     -- names the text
	tenant   INTEGER NOT NULL,
	label    TEXT NOT NULL,
	pull     INTEGER NOT NULL,
	stranger TEXT NOT NULL,
	said_at  INTEGER NOT NULL,
	unread   INTEGER NOT NULL,
	PRIMARY KEY (grp, reviewer, text)
) WITHOUT ROWID;
CREATE INDEX heard_said ON heard (said_at, label, unread);
CREATE INDEX heard_tenant ON heard (tenant);
