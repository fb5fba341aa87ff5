-- +goose Up
-- The tables of postgres/, but for what replicas need. Times are microseconds since 1970; the largest integer stands for never.

CREATE TABLE deliveries (
	id          TEXT NOT NULL PRIMARY KEY,
	received_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX deliveries_received ON deliveries (received_at);

CREATE TABLE work (
	id         INTEGER PRIMARY KEY,
	key        TEXT NOT NULL UNIQUE,
	tenant     INTEGER NOT NULL,
	kind       TEXT NOT NULL,
	grp        TEXT NOT NULL,
	due_at     INTEGER NOT NULL,                             -- while it is leased: when the lease runs out
	backlog_at INTEGER NOT NULL DEFAULT 9223372036854775807, -- since when it waits in the backlog
	since      INTEGER NOT NULL DEFAULT 0,                   -- while it is leased: since when it was due
	leased     INTEGER NOT NULL DEFAULT 0,
	token      INTEGER NOT NULL DEFAULT 0,
	holder     TEXT NOT NULL DEFAULT '',                     -- replica that has, or had, the lease
	touches    TEXT NOT NULL DEFAULT '',                     -- of pokes since the last claim, one in a line: of a leased one, to look again
	taken      TEXT NOT NULL DEFAULT '',                     -- handed out with a lease, and not known to have been looked at
	attempts   INTEGER NOT NULL DEFAULT 0,
	failed     TEXT NOT NULL DEFAULT '',
	wake_at    INTEGER NOT NULL DEFAULT 9223372036854775807,
	seen_at    INTEGER NOT NULL DEFAULT 0,
	open       INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX work_due ON work (tenant, due_at);
CREATE INDEX work_backlog ON work (tenant, backlog_at) WHERE backlog_at < 9223372036854775807;
CREATE INDEX work_due_first ON work (due_at, tenant) WHERE due_at < 9223372036854775807;
CREATE INDEX work_backlog_first ON work (backlog_at, tenant) WHERE backlog_at < 9223372036854775807;
CREATE INDEX work_leased ON work (due_at) WHERE leased = 1;
CREATE INDEX work_failing ON work (attempts) WHERE attempts > 0;
CREATE INDEX work_kind ON work (kind, seen_at);
CREATE INDEX work_open ON work (seen_at) WHERE open = 1;
CREATE INDEX work_grp ON work (grp);

-- Sights are large and seldom read: in a table of their own they leave the rows of work small.
CREATE TABLE sights (
	id    INTEGER PRIMARY KEY REFERENCES work ON DELETE CASCADE,
	sight BLOB NOT NULL
);

-- Each tenant that ever had a key, and its turn: the token of the last lease that it got.
CREATE TABLE tenants (
	tenant INTEGER PRIMARY KEY,
	served INTEGER NOT NULL DEFAULT 0,
	worker TEXT NOT NULL DEFAULT '' -- replica that got that lease
);

-- The last token, and the last seen_at: no two leases have one token, and no two keys are seen at one moment.
CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counters (name, n) VALUES ('token', 0), ('seen', 0);

-- Reviewers' newest answers and whether they were understood, how their services fared, and what was done about it: a few of each
-- reviewer in a repository.
CREATE TABLE notes (
	grp      TEXT NOT NULL,
	reviewer TEXT NOT NULL,
	kind     INTEGER NOT NULL, -- 0: an answer
	name     TEXT NOT NULL, -- names the text, or what shows it
	tenant   INTEGER NOT NULL,
	label    TEXT NOT NULL,
	pull     INTEGER NOT NULL,
	stranger TEXT NOT NULL,
	noted_at INTEGER NOT NULL,
	until_at INTEGER NOT NULL, -- 0: no time
	unread   INTEGER NOT NULL,
	PRIMARY KEY (grp, reviewer, kind, name)
) WITHOUT ROWID;
CREATE INDEX notes_answers ON notes (noted_at, label, unread) WHERE kind = 0;
CREATE INDEX notes_tenant ON notes (tenant);

-- GitHub's answers with their ETags, compressed.
CREATE TABLE answers (
	id      INTEGER PRIMARY KEY,
	key     TEXT NOT NULL UNIQUE, -- hash of tenant and URL
	value   BLOB NOT NULL,
	size    INTEGER NOT NULL,     -- of key and value
	put_at  INTEGER NOT NULL
);
CREATE INDEX answers_put ON answers (put_at, size);
