-- +goose Up
-- The tables of sqlite3/, and what replicas need. Times are microseconds since 1970; the largest integer stands for never.

CREATE TABLE deliveries (
	id          text COLLATE "C" PRIMARY KEY,
	received_at bigint NOT NULL
);
CREATE INDEX deliveries_received ON deliveries (received_at);

CREATE TABLE work (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key        text COLLATE "C" NOT NULL UNIQUE,
	tenant     bigint NOT NULL,
	kind       text COLLATE "C" NOT NULL,
	grp        text COLLATE "C" NOT NULL,
	due_at     bigint NOT NULL,                             -- while it is leased: when the lease runs out
	backlog_at bigint NOT NULL DEFAULT 9223372036854775807, -- since when it waits in the backlog
	since      bigint NOT NULL DEFAULT 0,                   -- while it is leased: since when it was due
	leased     integer NOT NULL DEFAULT 0,
	token      bigint NOT NULL DEFAULT 0,
	holder     text COLLATE "C" NOT NULL DEFAULT '',        -- replica that has, or had, the lease
	touches    text COLLATE "C" NOT NULL DEFAULT '',        -- of pokes since the last claim, one in a line: of a leased one, to look again
	taken      text COLLATE "C" NOT NULL DEFAULT '',        -- handed out with a lease, and not known to have been looked at
	attempts   integer NOT NULL DEFAULT 0,
	failed     text NOT NULL DEFAULT '',
	wake_at    bigint NOT NULL DEFAULT 9223372036854775807,
	seen_at    bigint NOT NULL DEFAULT 0,
	open       integer NOT NULL DEFAULT 0
) WITH (fillfactor = 80); -- a row is written again and again
CREATE INDEX work_due ON work (tenant, due_at, id);
CREATE INDEX work_backlog ON work (tenant, backlog_at, id) WHERE backlog_at < 9223372036854775807;
CREATE INDEX work_due_first ON work (due_at, tenant) WHERE due_at < 9223372036854775807;
CREATE INDEX work_backlog_first ON work (backlog_at, tenant) WHERE backlog_at < 9223372036854775807;
CREATE INDEX work_leased ON work (due_at) WHERE leased = 1;
CREATE INDEX work_failing ON work (attempts) WHERE attempts > 0;
CREATE INDEX work_kind ON work (kind, seen_at);
CREATE INDEX work_open ON work (seen_at) WHERE open = 1;
CREATE INDEX work_grp ON work (grp);

-- Sights are large and seldom read: in a table of their own they leave the rows of work small.
CREATE TABLE sights (
	id    bigint PRIMARY KEY REFERENCES work ON DELETE CASCADE,
	sight bytea NOT NULL
);

-- Each tenant that ever had a key, and its turn: the token of the last lease that it got.
CREATE TABLE tenants (
	tenant bigint PRIMARY KEY,
	served bigint NOT NULL DEFAULT 0,
	worker text COLLATE "C" NOT NULL DEFAULT '' -- replica that got that lease
);

-- The processes that share the tables. Each works for the tenants for which its name and theirs make the largest hash: if one comes
-- or goes, no tenant moves but those that it gets or had.
CREATE TABLE replicas (
	name     text COLLATE "C" PRIMARY KEY,
	until_at bigint NOT NULL -- it lives until then, unless it says more; 0: it claims nothing any more
);

-- The last token, and the last seen_at: no two leases have one token, and no two keys are seen at one moment.
CREATE TABLE counters (name text PRIMARY KEY, n bigint NOT NULL);
INSERT INTO counters (name, n) VALUES ('token', 0), ('seen', 0);

-- Reviewers' newest answers and whether they were understood, how their services fared, and what was done about it: a few of each
-- reviewer in a repository.
CREATE TABLE notes (
	grp      text COLLATE "C" NOT NULL,
	reviewer text COLLATE "C" NOT NULL,
	kind     bigint NOT NULL, -- 0: an answer
	name     text COLLATE "C" NOT NULL, -- names the text, or what shows it
	tenant   bigint NOT NULL,
	label    text COLLATE "C" NOT NULL,
	pull     bigint NOT NULL,
	stranger text NOT NULL,
	noted_at bigint NOT NULL,
	until_at bigint NOT NULL, -- 0: no time
	unread   integer NOT NULL,
	PRIMARY KEY (grp, reviewer, kind, name)
);
CREATE INDEX notes_answers ON notes (noted_at, label, unread) WHERE kind = 0;
CREATE INDEX notes_tenant ON notes (tenant);

-- GitHub's answers with their ETags, compressed.
CREATE TABLE answers (
	id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key     text COLLATE "C" NOT NULL UNIQUE, -- hash of tenant and URL
	value   bytea NOT NULL,
	size    bigint NOT NULL,       -- of key and value
	put_at  bigint NOT NULL
);
CREATE INDEX answers_put ON answers (put_at, size);
