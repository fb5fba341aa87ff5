package main

// What is logged, and how: the flags and variables of the log, which all commands have. Nothing but this
// and logging_serve.go makes a logger.

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/review-coordinator/coordinator/internal/oplog"
)

// Variables that stand for the log's flags. They begin with our name: a LOG_LEVEL may be another program's.
const (
	logLevelVariable  = "COORDINATOR_LOG_LEVEL"
	logFormatVariable = "COORDINATOR_LOG_FORMAT"
)

// logSettings are what the person asked of the log.
type logSettings struct {
	isJSON bool
	level  *slog.Level // nil: nobody asked for one
}

// chooseLog reads the log's flags, and where one is not given its variable. -v is the level debug.
func (c *command) chooseLog(level, format string) error {
	from := "--log-level"
	if level == "" && c.Verbose {
		level = "debug"
	}
	if level == "" {
		from, level = logLevelVariable, c.Getenv(logLevelVariable)
	}
	if level != "" {
		chosen, err := oplog.ParseLevel(level)
		if err != nil {
			return usageError(fmt.Errorf("%s %w", from, err), "write --log-level info, or -v for debug")
		}
		c.log.level = &chosen
	}
	from = "--log-format"
	if format == "" {
		from = logFormatVariable
	}
	chosen, err := oplog.ParseFormat(cmp.Or(format, c.Getenv(logFormatVariable), "text"))
	if err != nil {
		return usageError(fmt.Errorf("%s %w", from, err), "write --log-format json; text is the default")
	}
	c.log.isJSON = chosen
	return nil
}

// newLogger returns a logger to standard error with -v or --log-level, and one that discards everything without.
func (c *command) newLogger() *slog.Logger {
	if c.log.level == nil {
		return slog.New(slog.DiscardHandler)
	}
	return oplog.New(c.Stderr, oplog.Style{JSON: c.log.isJSON, Level: *c.log.level, Color: c.ErrColor, Clock: time.TimeOnly})
}
