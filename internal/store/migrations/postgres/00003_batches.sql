-- +goose Up
-- What costs the server most when much is accepted: to find whose turn it is, and to accept one delivery after another.

-- By these what is due is found without a search for each tenant: of 50,000 that would take half a second.
CREATE INDEX work_due_first ON work (due_at, tenant) WHERE due_at < 9223372036854775807;
CREATE INDEX work_backlog_first ON work (backlog_at, tenant) WHERE backlog_at < 9223372036854775807;

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
-- that lives comes before it, or has a lease of it, as is_tenant_of says.
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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION due_tenants(p_now bigint, p_replica text, p_backlog boolean, p_except bigint[]) RETURNS bigint[] LANGUAGE sql AS $$
	SELECT coalesce(array_agg(first.tenant ORDER BY coalesce(turns.served, 0), first.at, first.tenant), '{}')
	FROM first_of_tenants(p_replica, p_now, p_backlog, p_except, p_now, 5000, false) AS first LEFT JOIN turns ON turns.tenant = first.tenant
$$;
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
