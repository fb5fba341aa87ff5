-- +goose Up
-- How many answers were heard in each hour, kept by triggers: counting those of a month for each scrape takes seconds when
-- there are millions.

CREATE TABLE heard_hours (
	hour    INTEGER NOT NULL, -- since 1970
	label   TEXT NOT NULL,
	answers INTEGER NOT NULL,
	unread  INTEGER NOT NULL,
	PRIMARY KEY (hour, label)
) WITHOUT ROWID;
INSERT INTO heard_hours SELECT said_at / 3600000000, label, count(*), sum(unread) FROM heard GROUP BY 1, 2;

-- +goose StatementBegin
CREATE TRIGGER heard_inserted AFTER INSERT ON heard BEGIN
	INSERT INTO heard_hours VALUES (new.said_at / 3600000000, new.label, 1, new.unread)
		ON CONFLICT DO UPDATE SET answers = answers + 1, unread = unread + excluded.unread;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER heard_deleted AFTER DELETE ON heard BEGIN
	UPDATE heard_hours SET answers = answers - 1, unread = unread - old.unread WHERE hour = old.said_at / 3600000000 AND label = old.label;
	DELETE FROM heard_hours WHERE hour = old.said_at / 3600000000 AND label = old.label AND answers = 0;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER heard_updated AFTER UPDATE ON heard BEGIN
	INSERT INTO heard_hours VALUES (new.said_at / 3600000000, new.label, 1, new.unread)
		ON CONFLICT DO UPDATE SET answers = answers + 1, unread = unread + excluded.unread;
	UPDATE heard_hours SET answers = answers - 1, unread = unread - old.unread WHERE hour = old.said_at / 3600000000 AND label = old.label;
	DELETE FROM heard_hours WHERE hour = old.said_at / 3600000000 AND label = old.label AND answers = 0;
END;
-- +goose StatementEnd
