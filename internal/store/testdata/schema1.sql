-- A file of schema 1, as the program of that time left it when it was killed.
CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1);
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

CREATE TABLE sights (
	id    INTEGER PRIMARY KEY, -- of the row of work
	sight BLOB NOT NULL
);

CREATE TABLE epoch (n INTEGER NOT NULL);
INSERT INTO epoch (n) VALUES (0);
UPDATE epoch SET n = 3;
INSERT INTO deliveries (id, event, action, received_at) VALUES ('d1', 'push', '', 1772366400000000), ('d2', 'pull_request', 'opened', 1772366400000000);
INSERT INTO work (id, key, tenant, kind, grp, gen, claimed, due_at, since, leased, token, touches, taken, attempts, failed, wake_at, seen_at, open) VALUES
	(1, '77/acme/shop#7', 77, 'pull', 'acme/shop', 5, 5, 1772370000000000, 1772366400000000, 0, 12884901890, '', '', 2, 'GitHub says 502', 1772370000000000, 1772366340000000, 1),
	(2, '77/acme/shop', 77, 'repo', 'acme/shop', 4, 3, 1772366430000000, 1772366400000000, 1, 12884901891, 'y' || char(10) || 'z', 'x' || char(10) || 'y', 0, '', 9223372036854775807, 0, 0);
INSERT INTO sights (id, sight) VALUES (1, CAST('{"head":"abc"}' AS BLOB));
