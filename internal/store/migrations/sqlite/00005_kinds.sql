-- +goose Up
-- A start, a scrape and a page of the dashboard read no more rows than they show, however many there are.

DROP INDEX work_seen;
CREATE INDEX work_kind ON work (kind, seen_at); -- the latest of a kind, however many of another kind are later
CREATE INDEX work_failing ON work (attempts) WHERE attempts > 0;
