-- +goose Up
-- The tables of sqlite/, and as functions what a transaction does to them: each is one round trip. Times are microseconds since
-- 1970; the largest integer stands for never.

CREATE TABLE deliveries (
	id          text COLLATE "C" PRIMARY KEY,
	event       text NOT NULL,
	action      text NOT NULL,
	received_at bigint NOT NULL
);
CREATE INDEX deliveries_received ON deliveries (received_at);

CREATE TABLE work (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key        text COLLATE "C" NOT NULL UNIQUE,
	tenant     bigint NOT NULL,
	kind       text COLLATE "C" NOT NULL,
	grp        text COLLATE "C" NOT NULL,
	gen        bigint NOT NULL,                                -- one more with each poke
	claimed    bigint NOT NULL DEFAULT 0,                      -- gen when it was leased
	due_at     bigint NOT NULL,                                -- while it is leased: when the lease runs out
	backlog_at bigint NOT NULL DEFAULT 9223372036854775807,    -- since when it waits in the backlog
	leased     boolean NOT NULL DEFAULT false,
	token      bigint NOT NULL DEFAULT 0,
	holder     text COLLATE "C" NOT NULL DEFAULT '',           -- replica that has, or had, the lease
	touches    text COLLATE "C" NOT NULL DEFAULT '',           -- of pokes since the last claim, one in a line
	taken      text COLLATE "C" NOT NULL DEFAULT '',           -- handed out with a lease, and not known to have been looked at
	attempts   integer NOT NULL DEFAULT 0,
	failed     text NOT NULL DEFAULT '',
	wake_at    bigint NOT NULL DEFAULT 9223372036854775807,
	seen_at    bigint NOT NULL DEFAULT 0,
	open       boolean NOT NULL DEFAULT false
) WITH (fillfactor = 80); -- a row is written again and again
CREATE INDEX work_due ON work (tenant, due_at, id);
CREATE INDEX work_backlog ON work (tenant, backlog_at, id) WHERE backlog_at < 9223372036854775807;
-- By these what is due is found without a search for each tenant: of 50,000 that would take half a second.
CREATE INDEX work_due_first ON work (due_at, tenant) WHERE due_at < 9223372036854775807;
CREATE INDEX work_backlog_first ON work (backlog_at, tenant) WHERE backlog_at < 9223372036854775807;
CREATE INDEX work_leased ON work (tenant) WHERE leased;
CREATE INDEX work_kind ON work (kind, seen_at);
CREATE INDEX work_open ON work (seen_at) WHERE open;
CREATE INDEX work_grp ON work (grp);

-- What was seen is large and seldom wanted: apart from it, rows of work stay small.
CREATE TABLE sights (
	id    bigint PRIMARY KEY REFERENCES work ON DELETE CASCADE,
	sight bytea NOT NULL
);

CREATE SEQUENCE tokens;   -- of leases: none is given twice
CREATE SEQUENCE servings; -- by which tenants take turns
CREATE TABLE turns (
	tenant bigint PRIMARY KEY,
	served bigint NOT NULL,
	worker text COLLATE "C" NOT NULL DEFAULT '' -- replica that was served last
);

-- The processes that share the table. Each works for the tenants for which its name and theirs make the largest hash: if one comes
-- or goes, no tenant moves but those that it gets or had.
CREATE TABLE replicas (
	name     text COLLATE "C" PRIMARY KEY,
	until_at bigint NOT NULL -- it lives until then, unless it says more; 0: it claims nothing any more
);

-- The latest seen_at: no two keys are seen at one moment.
CREATE TABLE seen_last (at bigint NOT NULL);
INSERT INTO seen_last (at) VALUES (0);

CREATE TABLE heard (
	grp      text COLLATE "C" NOT NULL,
	reviewer text COLLATE "C" NOT NULL,
	text     text COLLATE "C" NOT NULL, -- names the text
	tenant   bigint NOT NULL,
	label    text COLLATE "C" NOT NULL,
	pull     bigint NOT NULL,
	stranger text NOT NULL,
	said_at  bigint NOT NULL,
	unread   integer NOT NULL,
	PRIMARY KEY (grp, reviewer, text)
);
CREATE INDEX heard_said ON heard (said_at, label, unread);
CREATE INDEX heard_tenant ON heard (tenant);

CREATE TABLE signs (
	grp      text COLLATE "C" NOT NULL,
	reviewer text COLLATE "C" NOT NULL,
	kind     bigint NOT NULL,
	shown_by text COLLATE "C" NOT NULL, -- names what shows it
	tenant   bigint NOT NULL,
	pull     bigint NOT NULL,
	author   text NOT NULL,
	shown_at bigint NOT NULL,
	until_at bigint NOT NULL,           -- 0: no time
	PRIMARY KEY (grp, reviewer, kind, shown_by)
);
CREATE INDEX signs_tenant ON signs (tenant);

-- As addTouch in touches.go: a line more, once; beyond 4096 bytes, or beside *, only those that begin with ! stay.
-- +goose StatementBegin
CREATE FUNCTION add_touch(all_touches text, touch text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	line text;
	kept text := '*';
BEGIN
	IF all_touches = '' OR touch = '' THEN
		RETURN all_touches || touch;
	END IF;
	IF position(E'\n' || touch || E'\n' IN E'\n' || all_touches || E'\n') > 0 THEN
		RETURN all_touches;
	END IF;
	IF touch <> '*' AND position(E'\n*\n' IN E'\n' || all_touches || E'\n') = 0
		AND octet_length(all_touches) + 1 + octet_length(touch) <= 4096 THEN
		RETURN all_touches || E'\n' || touch;
	END IF;
	FOREACH line IN ARRAY string_to_array(all_touches || E'\n' || touch, E'\n') LOOP
		IF left(line, 1) = '!' AND octet_length(kept) + 1 + octet_length(line) <= 4096 THEN
			kept := kept || E'\n' || line;
		END IF;
	END LOOP;
	RETURN kept;
END $$;
-- +goose StatementEnd

-- As mergeTouches in touches.go.
-- +goose StatementBegin
CREATE FUNCTION merge_touches(older text, newer text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	line text;
BEGIN
	IF newer <> '' THEN
		FOREACH line IN ARRAY string_to_array(newer, E'\n') LOOP
			older := add_touch(older, line);
		END LOOP;
	END IF;
	RETURN older;
END $$;
-- +goose StatementEnd

-- lock_names locks names until the end of the transaction, always in the same order: two transactions that touch the same rows
-- wait for each other, and never each for the other.
-- +goose StatementBegin
CREATE FUNCTION lock_names(names text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(h) FROM (
		SELECT DISTINCT hashtextextended(name, 7020) AS h FROM unnest(names) AS name ORDER BY h
	) AS hashes;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION poke(
	p_key text, p_tenant bigint, p_kind text, p_grp text, p_due bigint, p_backlog bigint, p_touch text, p_if_known boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	r record;
	due bigint;
	backlog bigint;
	touched text;
BEGIN
	SELECT id, due_at, backlog_at, leased, touches INTO r FROM work WHERE key = p_key FOR UPDATE;
	IF NOT FOUND THEN
		IF NOT p_if_known THEN
			INSERT INTO work (key, tenant, kind, grp, gen, due_at, backlog_at, touches)
				VALUES (p_key, p_tenant, p_kind, p_grp, 1, p_due, p_backlog, p_touch);
		END IF;
		RETURN;
	END IF;
	due := least(p_due, r.due_at);
	backlog := least(p_backlog, r.backlog_at);
	IF r.leased THEN
		due := r.due_at;
		backlog := r.backlog_at;
	END IF;
	touched := add_touch(r.touches, p_touch);
	IF due <> r.due_at OR backlog <> r.backlog_at OR touched <> r.touches THEN
		UPDATE work SET gen = gen + 1, due_at = due, backlog_at = backlog, touches = touched WHERE id = r.id;
	ELSIF r.leased THEN
		UPDATE work SET gen = gen + 1 WHERE id = r.id;
	END IF; -- else a look is due that will see it
END $$;
-- +goose StatementEnd

-- accept_all accepts deliveries, no two of one id, and says which are fresh; one without an id is pokes alone. p_of is of which delivery
-- a poke is. A poke that changes nothing, as a look is due that will see it, locks nothing: whoever claims that key at this moment
-- begins to look after the event.
-- +goose StatementBegin
CREATE FUNCTION accept_all(
	p_ids text[], p_events text[], p_actions text[], p_received bigint[],
	p_of integer[], p_keys text[], p_tenants bigint[], p_kinds text[], p_grps text[], p_dues bigint[], p_backlogs bigint[], p_touches text[],
	p_if_known boolean[]
) RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
	inserted text[];
	fresh boolean[];
	i integer;
BEGIN
	WITH added AS (
		INSERT INTO deliveries (id, event, action, received_at)
			SELECT d.id, d.event, d.action, d.received FROM unnest(p_ids, p_events, p_actions, p_received) AS d (id, event, action, received)
			WHERE d.id <> '' ORDER BY d.id
		ON CONFLICT DO NOTHING RETURNING id
	) SELECT coalesce(array_agg(id), '{}') INTO inserted FROM added;
	SELECT array_agg(d.id = '' OR added.id IS NOT NULL ORDER BY d.n) INTO fresh
		FROM unnest(p_ids) WITH ORDINALITY AS d (id, n) LEFT JOIN unnest(inserted) AS added (id) ON added.id = d.id;
	FOR i IN
		SELECT p.n FROM unnest(p_of, p_keys, p_dues, p_backlogs, p_touches) WITH ORDINALITY AS p (of, key, due, backlog, touch, n)
			LEFT JOIN work w ON w.key = p.key
		WHERE fresh[p.of] AND NOT (w.id IS NOT NULL AND NOT w.leased AND w.due_at <= p.due AND w.backlog_at <= p.backlog
			AND (p.touch = '' OR position(E'\n' || p.touch || E'\n' IN E'\n' || w.touches || E'\n') > 0))
		ORDER BY p.n
	LOOP
		PERFORM poke(p_keys[i], p_tenants[i], p_kinds[i], p_grps[i], p_dues[i], p_backlogs[i], p_touches[i], p_if_known[i]);
	END LOOP;
	RETURN fresh;
END $$;
-- +goose StatementEnd

-- free_leases_of makes due what a replica has leased.
-- +goose StatementBegin
CREATE FUNCTION free_leases_of(p_replica text, p_now bigint) RETURNS void LANGUAGE sql AS $$
	UPDATE work SET due_at = p_now WHERE leased AND holder = p_replica AND due_at > p_now
$$;
-- +goose StatementEnd

-- bury_replicas forgets the other replicas whose lifeline has ended, and makes due what they had leased. The lifeline of one is a
-- connection that holds a lock by its name: who gets that lock knows that nobody has it.
-- +goose StatementBegin
CREATE FUNCTION bury_replicas(p_replica text, p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	dead text;
BEGIN
	FOR dead IN SELECT name FROM replicas WHERE name <> p_replica LOOP
		IF pg_try_advisory_xact_lock(7022, hashtext(dead)) THEN
			DELETE FROM replicas WHERE name = dead;
			PERFORM free_leases_of(dead, p_now);
		END IF;
	END LOOP;
END $$;
-- +goose StatementEnd

-- first_of_all_tenants is the earliest time in a queue of each tenant that has keys there: a search of an index for each.
-- +goose StatementBegin
CREATE FUNCTION first_of_all_tenants(p_backlog boolean) RETURNS TABLE (tenant bigint, at bigint) LANGUAGE sql STABLE AS $$
	WITH RECURSIVE live (tenant, at) AS (
		(SELECT w.tenant, w.due_at FROM work w WHERE NOT p_backlog ORDER BY w.tenant, w.due_at LIMIT 1)
		UNION ALL
		SELECT n.tenant, n.due_at FROM live CROSS JOIN LATERAL (
			SELECT w.tenant, w.due_at FROM work w WHERE w.tenant > live.tenant ORDER BY w.tenant, w.due_at LIMIT 1
		) AS n
	), backlog (tenant, at) AS (
		(SELECT w.tenant, w.backlog_at FROM work w WHERE p_backlog AND w.backlog_at < 9223372036854775807
			ORDER BY w.tenant, w.backlog_at LIMIT 1)
		UNION ALL
		SELECT n.tenant, n.backlog_at FROM backlog CROSS JOIN LATERAL (
			SELECT w.tenant, w.backlog_at FROM work w WHERE w.tenant > backlog.tenant AND w.backlog_at < 9223372036854775807
				ORDER BY w.tenant, w.backlog_at LIMIT 1
		) AS n
	)
	SELECT * FROM live UNION ALL SELECT * FROM backlog
$$;
-- +goose StatementEnd

-- first_of_tenants is the earliest time in a queue of each tenant of a replica, up to p_until. It looks at the p_rows rows that are due
-- first, and at all tenants only if there are more; p_any: the earliest of all is enough. A tenant is a replica's while no other one
-- that lives comes before it, or has a lease of it; a process without a name works for all.
-- +goose StatementBegin
CREATE FUNCTION first_of_tenants(
	p_replica text, p_now bigint, p_backlog boolean, p_except bigint[], p_until bigint, p_rows integer, p_any boolean
) RETURNS TABLE (tenant bigint, at bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
	whole boolean;
	tenants bigint[];
	times bigint[];
	n bigint;
BEGIN
	FOREACH whole IN ARRAY ARRAY[false, true] LOOP
		IF whole THEN
			SELECT array_agg(f.tenant), array_agg(f.at) INTO tenants, times FROM first_of_all_tenants(p_backlog) AS f WHERE f.at <= p_until;
		ELSE
			SELECT array_agg(f.tenant), array_agg(f.at), coalesce(sum(f.n), 0) INTO tenants, times, n FROM (
				SELECT e.tenant, min(e.at) AS at, count(*) AS n FROM (
					(SELECT w.tenant, w.due_at AS at FROM work w
						WHERE NOT p_backlog AND w.due_at < 9223372036854775807 AND w.due_at <= p_until ORDER BY w.due_at LIMIT p_rows)
					UNION ALL
					(SELECT w.tenant, w.backlog_at FROM work w
						WHERE p_backlog AND w.backlog_at < 9223372036854775807 AND w.backlog_at <= p_until ORDER BY w.backlog_at LIMIT p_rows)
				) AS e GROUP BY e.tenant
			) AS f;
			CONTINUE WHEN n >= p_rows AND NOT p_any;
		END IF;
		RETURN QUERY SELECT f.tenant, f.at FROM unnest(tenants, times) AS f (tenant, at)
			WHERE f.tenant <> ALL (p_except) AND (p_replica = '' OR NOT EXISTS (
				SELECT 1 FROM replicas r WHERE r.name <> p_replica AND r.until_at > p_now
					AND (hashtextextended(r.name || '/' || f.tenant, 7020), r.name)
						> (hashtextextended(p_replica || '/' || f.tenant, 7020), p_replica)
			) AND NOT EXISTS (
				SELECT 1 FROM work w WHERE w.tenant = f.tenant AND w.leased AND w.holder <> p_replica AND w.due_at > p_now
			));
		EXIT WHEN FOUND OR n < p_rows;
	END LOOP;
END $$;
-- +goose StatementEnd

-- due_tenants are the tenants of a replica that have a key due by p_now in a queue, in the order of their turns.
-- +goose StatementBegin
CREATE FUNCTION due_tenants(p_now bigint, p_replica text, p_backlog boolean, p_except bigint[]) RETURNS bigint[] LANGUAGE sql AS $$
	SELECT coalesce(array_agg(first.tenant ORDER BY coalesce(turns.served, 0), first.at, first.tenant), '{}')
	FROM first_of_tenants(p_replica, p_now, p_backlog, p_except, p_now, 5000, false) AS first LEFT JOIN turns ON turns.tenant = first.tenant
$$;
-- +goose StatementEnd

-- claim leases keys to a replica, and says that it lives: one of each tenant whose turn it is, then another one of each; those of the backlog after all others. Of a
-- tenant in p_most_of it gets at most so many, of another p_each, and of the backlog by the bounds that begin with p_backlog.
-- +goose StatementBegin
CREATE FUNCTION claim(
	p_replica text, p_now bigint, p_until bigint, p_limit integer, p_except bigint[], p_most_of bigint[], p_most integer[], p_each integer,
	p_backlog_except bigint[], p_backlog_most_of bigint[], p_backlog_most integer[], p_backlog_each integer
) RETURNS TABLE (
	o_key text, o_token bigint, o_tenant bigint, o_kind text, o_backlog boolean, o_live_due bigint, o_due bigint, o_wake bigint,
	o_attempts integer, o_touches text, o_sight bytea, o_seen bigint, o_moved boolean
) LANGUAGE plpgsql AS $$
DECLARE
	r record;
	of_backlog boolean;
	waiting bigint[];
	still bigint[];
	t bigint;
	n integer := 0;
	got_of bigint[] := '{}';     -- tenants, once for each key
	got_backlog bigint[] := '{}';
	most integer;
BEGIN
	PERFORM pg_advisory_xact_lock(7020, 1); -- one claim at a time, or two would serve the same tenant's turn
	IF p_replica <> '' THEN
		INSERT INTO replicas (name, until_at) VALUES (p_replica, p_until) ON CONFLICT (name) DO UPDATE SET until_at = excluded.until_at
			WHERE replicas.until_at < p_until - (p_until - p_now) / 3;
		PERFORM bury_replicas(p_replica, p_now);
	END IF;
	FOREACH of_backlog IN ARRAY ARRAY[false, true] LOOP
		waiting := due_tenants(p_now, p_replica, of_backlog, CASE WHEN of_backlog THEN p_except || p_backlog_except ELSE p_except END);
		WHILE cardinality(waiting) > 0 AND n < p_limit LOOP
			still := '{}';
			FOREACH t IN ARRAY waiting LOOP
				EXIT WHEN n >= p_limit;
				most := coalesce(p_most[array_position(p_most_of, t)], p_each);
				CONTINUE WHEN cardinality(array_positions(got_of, t)) >= most;
				IF of_backlog THEN
					most := coalesce(p_backlog_most[array_position(p_backlog_most_of, t)], p_backlog_each);
					CONTINUE WHEN cardinality(array_positions(got_backlog, t)) >= most;
					SELECT w.* INTO r FROM work w WHERE w.tenant = t AND w.backlog_at <= p_now AND w.backlog_at < 9223372036854775807
						ORDER BY w.backlog_at, w.id LIMIT 1 FOR UPDATE SKIP LOCKED;
				ELSE
					SELECT w.* INTO r FROM work w WHERE w.tenant = t AND w.due_at <= p_now
						ORDER BY w.due_at, w.id LIMIT 1 FOR UPDATE SKIP LOCKED;
				END IF;
				CONTINUE WHEN NOT FOUND;
				still := still || t;
				n := n + 1;
				got_of := got_of || t;
				o_key := r.key;
				o_token := nextval('tokens');
				o_tenant := t;
				o_kind := r.kind;
				o_backlog := of_backlog;
				o_wake := r.wake_at;
				o_attempts := r.attempts;
				o_seen := r.seen_at;
				o_touches := merge_touches(r.taken, r.touches);
				IF of_backlog THEN
					got_backlog := got_backlog || t;
					o_due := r.backlog_at;
					o_live_due := r.due_at;
				ELSE
					o_due := r.due_at;
					o_live_due := 9223372036854775807;
				END IF;
				UPDATE work SET leased = true, token = o_token, holder = p_replica, claimed = gen, due_at = p_until, backlog_at = 9223372036854775807,
					touches = '', taken = o_touches WHERE id = r.id;
				SELECT sight INTO o_sight FROM sights WHERE id = r.id;
				o_moved := EXISTS (SELECT 1 FROM turns WHERE tenant = t AND worker <> p_replica);
				INSERT INTO turns (tenant, served, worker) VALUES (t, nextval('servings'), p_replica)
					ON CONFLICT (tenant) DO UPDATE SET served = excluded.served, worker = excluded.worker;
				RETURN NEXT;
			END LOOP;
			waiting := still;
		END LOOP;
	END LOOP;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION renew(p_key text, p_token bigint, p_replica text, p_until bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	UPDATE work SET due_at = p_until WHERE key = p_key AND token = p_token AND leased AND holder = p_replica;
	RETURN FOUND;
END $$;
-- +goose StatementEnd

-- complete ends a lease; false if it was lost.
-- +goose StatementBegin
CREATE FUNCTION complete(
	p_key text, p_token bigint, p_now bigint, p_now_due bigint, p_wake bigint, p_backlog boolean, p_live_due bigint,
	p_failed text, p_keep boolean, p_gone boolean, p_sight bytea, p_open boolean
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	r record;
	poked boolean;
	due bigint := p_wake;
	backlog bigint := 9223372036854775807;
	seen bigint;
BEGIN
	SELECT * INTO r FROM work WHERE key = p_key AND token = p_token AND leased FOR UPDATE;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	poked := r.gen > r.claimed;
	IF p_gone AND NOT poked THEN
		DELETE FROM work WHERE id = r.id;
		RETURN true;
	END IF;
	IF poked THEN
		due := p_now_due;
	ELSIF p_backlog THEN
		due := p_live_due;
		backlog := p_wake;
	END IF;
	IF p_failed <> '' THEN
		r.attempts := r.attempts + 1;
		r.failed := p_failed;
	ELSIF NOT p_keep THEN
		r.attempts := 0;
		r.failed := '';
		r.taken := '';
		r.wake_at := p_wake;
	END IF;
	r.open := p_open OR r.open AND p_sight IS NULL;
	IF p_sight IS NOT NULL THEN
		INSERT INTO sights (id, sight) VALUES (r.id, p_sight) ON CONFLICT (id) DO UPDATE SET sight = excluded.sight;
	END IF;
	SELECT at INTO seen FROM seen_last FOR UPDATE;
	IF p_now <= seen AND seen - p_now < 1000000 THEN
		p_now := seen + 1; -- so that a page of a list ends between two keys
	END IF;
	UPDATE seen_last SET at = greatest(seen, p_now);
	UPDATE work SET leased = false, due_at = due, backlog_at = backlog, wake_at = r.wake_at, attempts = r.attempts, failed = r.failed,
		taken = r.taken, seen_at = p_now, open = r.open WHERE id = r.id;
	RETURN true;
END $$;
-- +goose StatementEnd
