//go:build !action

package main

// The daemon's log, which is written without being asked for.

import (
	"log/slog"

	"github.com/review-coordinator/coordinator/internal/oplog"
)

// logFrom returns a logger to standard error of what has at least a level, unless another level was asked for.
func (c *command) logFrom(level slog.Level) *slog.Logger {
	if c.log.level != nil {
		level = *c.log.level
	}
	return oplog.New(c.Stderr, oplog.Style{JSON: c.log.isJSON, Level: level, Color: c.ErrColor})
}
