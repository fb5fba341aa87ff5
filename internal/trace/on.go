//go:build otel && !action

package trace

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// On says whether this program knows OpenTelemetry.
const On = true

// scope is whose spans these are.
const scope = "github.com/review-coordinator/coordinator"

// Setup sends spans by OTLP over HTTP to where OTEL_EXPORTER_OTLP_ENDPOINT says, and reads the other OTEL_ variables: what is
// sampled, with which headers, by which certificate. stop sends what is left, for [StopTimeout] at most.
func Setup(ctx context.Context, version string) (stop func(), err error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("set up traces: %w", err)
	}
	about, err := resource.New(
		ctx,
		resource.WithAttributes(attribute.String("service.name", "review-coordinator"), attribute.String("service.version", version)),
		resource.WithFromEnv(), // later ones go before
	)
	if err != nil {
		return nil, fmt.Errorf("set up traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	otel.SetTracerProvider(provider)
	return func() {
		ending, done := context.WithTimeout(context.WithoutCancel(ctx), StopTimeout)
		defer done()
		_ = provider.Shutdown(ending) // what the collector does not take is lost, and nothing else hangs on it
	}, nil
}

// An OpenSpan is something that the daemon does.
type OpenSpan struct{ span oteltrace.Span }

// Start begins a span, which is the parent of those that begin in the returned context.
func Start(ctx context.Context, name Name, facts ...Fact) (context.Context, OpenSpan) {
	ctx, span := otel.Tracer(scope).Start(ctx, string(name), oteltrace.WithSpanKind(kindOf(name)), withFacts(facts))
	return ctx, OpenSpan{span}
}

// End ends the span. It says whether it failed, and not why: that stands in the log.
func (s OpenSpan) End(failed bool, facts ...Fact) {
	s.span.SetAttributes(attributesOf(facts)...)
	if failed {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

// Record tells of what began then and ends now.
func Record(ctx context.Context, name Name, began time.Time, failed bool, facts ...Fact) {
	_, span := otel.Tracer(scope).Start(
		ctx, string(name), oteltrace.WithSpanKind(kindOf(name)), oteltrace.WithTimestamp(began), withFacts(facts),
	)
	OpenSpan{span}.End(failed)
}

func kindOf(name Name) oteltrace.SpanKind {
	switch name {
	case Webhook:
		return oteltrace.SpanKindServer
	case GitHub, Store:
		return oteltrace.SpanKindClient
	case Look:
		return oteltrace.SpanKindInternal
	}
	return oteltrace.SpanKindInternal
}

func withFacts(facts []Fact) oteltrace.SpanStartEventOption {
	return oteltrace.WithAttributes(attributesOf(facts)...)
}

func attributesOf(facts []Fact) (all []attribute.KeyValue) {
	for _, f := range facts {
		if f.word != "" {
			all = append(all, attribute.String(f.key, f.word))
			continue
		}
		all = append(all, attribute.Int64(f.key, f.number))
	}
	return all
}
