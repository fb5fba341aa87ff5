-- +goose Up
-- Since when a key waits in the backlog, which what has just happened goes before. The largest integer: it does not.

ALTER TABLE work ADD COLUMN backlog_at INTEGER NOT NULL DEFAULT 9223372036854775807;
CREATE INDEX work_backlog ON work (tenant, backlog_at) WHERE backlog_at < 9223372036854775807;
