//go:build !otel || action

package trace

import (
	"context"
	"time"
)

// On says whether this program knows OpenTelemetry.
const On = false

// An OpenSpan is something that the daemon does. The zero OpenSpan is of a program without traces.
type OpenSpan struct{}

// Setup does nothing here.
func Setup(context.Context, string) (stop func(), err error) { return func() {}, nil }

// Start does nothing here.
func Start(ctx context.Context, _ Name, _ ...Fact) (context.Context, OpenSpan) {
	return ctx, OpenSpan{}
}

// End does nothing here.
func (OpenSpan) End(bool, ...Fact) {}

// Record does nothing here.
func Record(context.Context, Name, time.Time, bool, ...Fact) {}
