//go:build otel && !action

package trace

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector on loopback gets the spans with their facts, and which is whose child; the OTEL_ variables say where it is.
func TestACollectorGetsTheSpans(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		got <- &request
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
	t.Setenv("OTEL_SERVICE_NAME", "ours")
	stop, err := Setup(t.Context(), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	ctx, look := Start(t.Context(), Look, Task("pull_request"), Installation(7))
	Record(ctx, GitHub, time.Now(), true, Endpoint("GET /app"), Status(502))
	look.End(false, Result("ok"))
	stop()
	select {
	case request := <-got:
		text := request.String()
		spans := request.ResourceSpans[0].ScopeSpans[0].Spans
		if len(spans) != 2 || spans[0].Name != "github" || string(spans[0].ParentSpanId) != string(spans[1].SpanId) || spans[0].Status.Message != "" {
			t.Errorf("%s", text)
		}
		facts := map[string]string{}
		for _, span := range spans {
			for _, a := range span.Attributes {
				facts[a.Key] = a.Value.String()
			}
		}
		for key, want := range map[string]string{
			"coordinator.task": `string_value:"pull_request"`, "coordinator.installation": "int_value:7", "coordinator.result": `string_value:"ok"`,
			"coordinator.endpoint": `string_value:"GET /app"`, "http.response.status_code": "int_value:502",
		} {
			if facts[key] != want {
				t.Errorf("%s is %s", key, facts[key])
			}
		}
		for _, a := range request.ResourceSpans[0].Resource.Attributes {
			if a.Key == "service.name" && a.Value.GetStringValue() != "ours" {
				t.Errorf("the service is %s", a.Value)
			}
		}
	case <-time.After(5 * time.Second):
		t.Fatal("nothing came")
	}
}
