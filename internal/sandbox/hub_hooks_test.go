package sandbox_test

// What the webhooks of every change look like, held against GitHub's own schemas, and how they travel.

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

var hookSchemas = flag.String("hooks", "", "cut testdata/webhooks/schema.json.gz anew from this `file`")

// sent are the events, with their actions, that a Hub sends.
var sent = []string{
	"check_run$completed", "check_run$created", "check_suite$completed", "check_suite$requested",
	"installation$deleted", "installation$suspend", "installation$unsuspend",
	"issue_comment$created",
	"issue_comment$deleted", "issue_comment$edited", "merge_group$checks_requested", "merge_group$destroyed", "pull_request$closed",
	"pull_request$converted_to_draft", "pull_request$edited", "pull_request$enqueued", "pull_request$labeled", "pull_request$opened",
	"pull_request$ready_for_review", "pull_request$reopened", "pull_request$review_requested",
	"pull_request$synchronize", "pull_request$unlabeled", "pull_request_review$dismissed",
	"pull_request_review$edited", "pull_request_review$submitted", "pull_request_review_comment$created",
	"pull_request_review_thread$resolved", "pull_request_review_thread$unresolved", "push$event",
	"repository$renamed", "status$event", "workflow_run$completed", "workflow_run$in_progress",
	"workflow_run$requested",
}

// TestSchemasOfWebhooks cuts them from those of the npm package @octokit/webhooks-schemas:
//
//	go test ./internal/sandbox -run TestSchemasOfWebhooks -hooks FILE
func TestSchemasOfWebhooks(t *testing.T) {
	if *hookSchemas == "" {
		schemas(t)
		return
	}
	whole, err := os.ReadFile(*hookSchemas)
	check(t, err)
	var doc struct {
		Definitions map[string]any `json:"definitions"`
	}
	check(t, json.Unmarshal(whole, &doc))
	kept := map[string]any{}
	for _, name := range sent {
		keepSchema(t, doc.Definitions, kept, name)
	}
	small, err := json.Marshal(map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": kept})
	check(t, err)
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	check(t, err)
	must[int](t)(w.Write(small))
	check(t, w.Close())
	check(t, os.WriteFile("testdata/webhooks/schema.json.gz", zipped.Bytes(), 0o600))
}

// keepSchema copies a definition and what it refers to.
func keepSchema(t *testing.T, all, kept map[string]any, name string) {
	t.Helper()
	if kept[name] != nil {
		return
	}
	if all[name] == nil {
		t.Fatalf("there is no schema %q", name)
	}
	kept[name] = all[name]
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			delete(v, "$schema")
			delete(v, "additionalProperties") // GitHub adds some at any time
			if _, text := v["format"].(string); text {
				delete(v, "format")
			}
			if text, is := v["description"].(string); is && text != "" {
				delete(v, "description")
			}
			if ref, is := v["$ref"].(string); is {
				keepSchema(t, all, kept, strings.TrimPrefix(ref, "#/definitions/"))
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(all[name])
}

func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	f, err := os.Open("testdata/webhooks/schema.json.gz")
	check(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	check(t, err)
	doc, err := jsonschema.UnmarshalJSON(r)
	check(t, err)
	c := jsonschema.NewCompiler()
	check(t, c.AddResource("https://webhooks.invalid/schema.json", doc))
	all := map[string]*jsonschema.Schema{}
	for _, name := range sent {
		s, err := c.Compile("https://webhooks.invalid/schema.json#/definitions/" + name)
		check(t, err)
		all[name] = s
	}
	return all
}

// stirring does everything once that GitHub announces.
func stirring(t *testing.T, h *sandbox.Hub, g *sandbox.GitHub, now *clock) {
	t.Helper()
	id := must[int64](t)
	h.Add(77, g)
	g.SetFile("policy.yml", "", "x")
	g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Author: "alice"})
	check(t, g.Push(7, "a2", sandbox.PushSpec{Force: true}))
	check(t, g.Retarget(7, "next", "alice"))
	check(t, g.RetargetAfterMerge(7, "main", "alice"))
	check(t, g.ConvertToDraft(7, ""))
	check(t, g.MarkReady(7, ""))
	check(t, g.AddLabel(7, "urgent", "bob"))
	check(t, g.RemoveLabel(7, "urgent", "bob"))
	check(t, g.RequestReview(7, "bob", "alice"))
	comment := id(g.Comment(7, "bob", "hello"))
	check(t, g.EditComment(comment, "bob", "hello again"))
	check(t, g.DeleteComment(comment))
	review := id(
		g.Review(
			7,
			sandbox.ReviewSpec{
				By:       "codex[bot]",
				State:    "CHANGES_REQUESTED",
				Body:     "no",
				Comments: []sandbox.LineComment{{Path: "a.go", Line: 3, Body: "here"}},
			},
		),
	)
	check(t, g.EditReview(review, "", "not yet"))
	id(g.ReplyInThread(7, "codex[bot]", "alice", "why?"))
	check(t, g.ResolveThreads(7, "codex[bot]", "alice"))
	check(t, g.UnresolveThreads(7, "codex[bot]"))
	check(t, g.DismissReview(review, "alice"))
	run := id(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/review.yml", PR: 7}))
	must[bool](t)(g.FinishRun(run, sandbox.Finish{Conclusion: "failure"}))
	check(t, g.RerunByPerson(run, "alice"))
	now.pass(time.Minute)
	h.Tick()
	id(g.SetCheck(sandbox.CheckSpec{Name: "bugbot", App: sandbox.App{Slug: "cursor"}, Head: "a2"}))
	id(g.SetCheck(sandbox.CheckSpec{Name: "bugbot", App: sandbox.App{Slug: "cursor"}, Head: "a2", Conclusion: "success"}))
	id(g.SetStatus(sandbox.CommitStatus{Head: "a2", Context: "coderabbit", State: "success", By: "coderabbitai[bot]"}))
	check(t, sandbox.Enqueue(g, 7, "m1", "alice"))
	check(t, sandbox.BuildGroup(g, 7, "m2"))
	check(t, sandbox.Dequeue(g, 7))
	check(t, g.Close(7, ""))
	check(t, g.Reopen(7, ""))
	h.RenameRepository(g, "store")
	h.Suspend(77)
	h.Unsuspend(77)
	h.Uninstall(77)
}

func TestEveryChangeIsAnnounced(t *testing.T) {
	now := newClock()
	h := sandbox.NewHub(sandbox.HubOptions{Now: now.now})
	g := sandbox.New(sandbox.Options{Now: now.now})
	stirring(t, h, g, now)
	all, seen := schemas(t), map[string]bool{}
	var order []string
	for _, d := range h.TakeDeliveries() {
		name := d.Event + "$" + d.Action
		if d.Action == "" {
			name += "event"
		}
		order = append(order, strings.TrimSuffix(name, "$event"))
		seen[name] = true
		if all[name] == nil {
			t.Errorf("%s is sent, and has no schema", name)
			continue
		}
		payload, err := jsonschema.UnmarshalJSON(bytes.NewReader(d.Payload))
		check(t, err)
		if err := all[name].Validate(payload); err != nil {
			t.Errorf("%s is not as GitHub's: %v", name, err)
		}
		var named struct {
			Pull struct{ Number int } `json:"pull_request"`
		}
		check(t, json.Unmarshal(d.Payload, &named))
		if strings.HasPrefix(d.Event, "pull_request") && named.Pull.Number != 7 {
			t.Errorf("%s names %d", name, named.Pull.Number)
		}
		if !bytes.Contains(d.Payload, []byte(`"id":77`)) {
			t.Errorf("%s names no installation", name)
		}
	}
	for _, name := range sent {
		if !seen[name] {
			t.Errorf("%s was never sent", name)
		}
	}
	if rerun := order[slices.Index(order, "workflow_run$completed")+1:]; slices.Contains(rerun, "workflow_run$requested") ||
		!slices.Contains(rerun, "workflow_run$in_progress") {
		t.Errorf("a rerun is requested, or never begins: %v", rerun)
	}
}

func TestARunOfAForkNamesNoPullRequest(t *testing.T) {
	now := newClock()
	h := sandbox.NewHub(sandbox.HubOptions{Now: now.now})
	g := sandbox.New(sandbox.Options{Now: now.now})
	h.Add(77, g)
	g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Fork: "mallory"})
	must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/review.yml", PR: 7}))
	for _, d := range h.TakeDeliveries() {
		var named struct {
			Run struct {
				Pulls []json.RawMessage `json:"pull_requests"`
				Head  string            `json:"head_sha"`
			} `json:"workflow_run"`
		}
		check(t, json.Unmarshal(d.Payload, &named))
		if d.Event == "workflow_run" && (len(named.Run.Pulls) != 0 || named.Run.Head != sandbox.SHA("a1")) {
			t.Errorf("the run names %v and %s", named.Run.Pulls, named.Run.Head)
		}
		if d.Event == "push" {
			t.Error("a push to a fork is announced")
		}
	}
}

// office receives deliveries over HTTP.
type office struct {
	mu     sync.Mutex
	got    []string // event and guid
	answer func(*http.Request) int
	forged int
}

func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil || r.Header.Get("X-Hub-Signature-256") != sandbox.Sign("a secret of some length", body) ||
		!strings.HasPrefix(r.UserAgent(), "GitHub-Hookshot/") {
		o.forged++
	}
	o.got = append(o.got, r.Header.Get("X-GitHub-Event")+" "+r.Header.Get("X-GitHub-Delivery"))
	w.WriteHeader(o.answer(r))
}

func TestDeliveriesOverHTTP(t *testing.T) {
	h := sandbox.NewHub(sandbox.HubOptions{Secret: "a secret of some length"})
	g := sandbox.New(sandbox.Options{})
	h.Add(77, g)
	codes := []int{202, 500, 302, 202}
	o := &office{answer: func(*http.Request) int {
		code := codes[0]
		codes = append(codes[1:], 202)
		return code
	}}
	server := httptest.NewServer(o)
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { h.DeliverTo(ctx, server.URL, server.Client()) })
	defer wg.Wait()
	defer stop()
	g.OpenPull(sandbox.PullSpec{Number: 7})
	must[int64](t)(g.Comment(7, "alice", "hello"))
	check(t, h.WaitDelivered(ctx))
	var status []string
	for _, d := range h.Deliveries() {
		status = append(status, fmt.Sprint(d.Event, ": ", d.Status, " ", d.Code))
	}
	if want := []string{
		"push: OK 202", "check_suite: Invalid HTTP Response: 500 500",
		"pull_request: Invalid HTTP Response: 302 302", "issue_comment: OK 202",
	}; !slices.Equal(status, want) {
		t.Errorf("%q, want %q", status, want)
	}
	if o.forged != 0 || len(o.got) != 4 || o.got[1] != "check_suite "+h.Deliveries()[1].GUID {
		t.Errorf("%d are forged; got %q", o.forged, o.got)
	}
	server.Close()
	must[int64](t)(g.Comment(7, "alice", "is anybody there?"))
	check(t, h.WaitDelivered(ctx))
	if last := h.Deliveries()[4]; last.Status != "failed to connect to host" || last.Code != 0 {
		t.Errorf("nobody listened, and it was %q", last.Status)
	}
}

func TestDisturbedDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sandbox.NewHub(sandbox.HubOptions{})
		g := sandbox.New(sandbox.Options{})
		g.OpenPull(sandbox.PullSpec{Number: 7})
		h.Add(77, g)
		fates := []sandbox.Fate{{}, {Drop: true}, {}, {}, {}, {Lost: true}, {Delay: time.Hour}, {}}
		h.DisturbDeliveries(func(sandbox.HookDelivery) sandbox.Fate {
			f := fates[0]
			fates = append(fates[1:], sandbox.Fate{})
			return f
		})
		ctx, stop := context.WithCancel(t.Context())
		var got []string
		var mu sync.Mutex
		go h.DeliverFunc(ctx, func(_, _ string, payload []byte) error {
			var p struct{ Comment struct{ Body string } }
			check(t, json.Unmarshal(payload, &p))
			mu.Lock()
			defer mu.Unlock()
			got = append(got, p.Comment.Body)
			if p.Comment.Body == "0" {
				return errors.New("not today")
			}
			return nil
		})
		for i := range 8 {
			must[int64](t)(g.Comment(7, "alice", fmt.Sprint(i)))
		}
		began := time.Now()
		check(t, h.WaitDelivered(ctx))
		if want := []string{"0", "2", "3", "4", "7", "6"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if time.Since(began) != time.Hour {
			t.Errorf("it took %v", time.Since(began))
		}
		failed := 0
		for _, d := range h.Deliveries() {
			if d.Status != "OK" {
				failed++
			}
		}
		if failed != 2 || len(h.Deliveries()) != 7 {
			t.Errorf("%d of %d failed", failed, len(h.Deliveries()))
		}
		stop()
		synctest.Wait()
	})
}

func TestADeliveryTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sandbox.NewHub(sandbox.HubOptions{})
		g := sandbox.New(sandbox.Options{})
		h.Add(77, g)
		g.OpenPull(sandbox.PullSpec{})
		ctx, stop := context.WithCancel(t.Context())
		client := &http.Client{Transport: hanging{}}
		go h.DeliverTo(ctx, "http://coordinator.invalid/webhook", client)
		check(t, h.WaitDelivered(ctx))
		if d := h.Deliveries()[0]; d.Status != "timed out" || d.Duration != 10*time.Second {
			t.Errorf("%q after %v", d.Status, d.Duration)
		}
		stop()
		synctest.Wait()
	})
}

// hanging never answers.
type hanging struct{}

func (hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, context.Cause(req.Context())
}

func TestWhatComesDueIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sandbox.NewHub(sandbox.HubOptions{})
		g := sandbox.New(sandbox.Options{})
		h.Add(77, g)
		g.OpenPull(sandbox.PullSpec{Number: 7})
		run := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/review.yml", PR: 7, Conclusion: "failure"}))
		h.TakeDeliveries()
		ctx, stop := context.WithCancel(t.Context())
		go h.Run(ctx, sandbox.Clock{Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-timer.C:
				return nil
			}
		}})
		synctest.Wait()
		began := time.Now()
		check(t, g.RerunByPerson(run, "alice"))
		events := make(chan string, 10)
		go h.DeliverFunc(ctx, func(event, _ string, _ []byte) error {
			events <- fmt.Sprint(event, " ", time.Since(began))
			return nil
		})
		for _, want := range []string{"check_run 0s", "workflow_run 5s"} {
			if got := <-events; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		stop()
		synctest.Wait()
	})
}

// TestMute: a muted Hub announces nothing of what happens, which happens all the same.
func TestMute(t *testing.T) {
	h := sandbox.NewHub(sandbox.HubOptions{})
	g := sandbox.New(sandbox.Options{})
	h.Add(77, g)
	g.OpenPull(sandbox.PullSpec{})
	if len(h.TakeDeliveries()) == 0 {
		t.Fatal("nothing was announced")
	}
	h.MuteWebhooks()
	number := g.OpenPull(sandbox.PullSpec{Head: "b1"})
	if told := h.TakeDeliveries(); len(told) > 0 {
		t.Errorf("it announced %d events", len(told))
	}
	if g.Head(number) != sandbox.SHA("b1") {
		t.Error("nothing happened")
	}
}
