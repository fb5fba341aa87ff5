package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func TestPages(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	for i := range 250 {
		must[int64](t)(g.Comment(7, "alice", fmt.Sprint(i)))
	}
	c.get("issues/7/comments").is(t, "#", "30")
	first := c.get("issues/7/comments?per_page=500") // which is more than GitHub gives
	first.is(t, "#", "100")
	link := first.header.Get("Link")
	if want := `<https://api.github.com/repos/acme/shop/issues/7/comments?page=2&per_page=500>; rel="next"`; !strings.Contains(link, want) {
		t.Errorf("link %s", link)
	}
	third := c.get("issues/7/comments?per_page=100&page=3")
	third.is(t, "#", "50", "49.body", "249")
	if link := third.header.Get("Link"); strings.Contains(link, "next") || !strings.Contains(link, "prev") {
		t.Errorf("link of the last page: %s", link)
	}
	c.get("issues/7/comments?per_page=100&page=9").is(t, "#", "0")
}

func TestConditionalRequests(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	r := c.get("pulls/7")
	tag := r.header.Get("Etag")
	before := r.header.Get("X-Ratelimit-Used")
	same := c.want(304, "GET", "pulls/7", "", "If-None-Match: "+tag)
	if len(same.body) != 0 || same.header.Get("X-Ratelimit-Used") != before {
		t.Errorf("a 304 cost something: %s, then %s", before, same.header.Get("X-Ratelimit-Used"))
	}
	c.token = "t2" // the tag is of no use to another token
	c.want(200, "GET", "pulls/7", "", "If-None-Match: "+tag)
	c.token = "t1"
	now.pass(time.Minute)
	c.want(304, "GET", "pulls/7", "", "If-None-Match: "+tag)
	check(t, g.AddLabel(7, "x", ""))
	c.want(200, "GET", "pulls/7", "", "If-None-Match: "+tag)
	log := g.Requests()
	if last := log[len(log)-2]; last.Status != 304 || !last.NotModified || last.Path != "/repos/acme/shop/pulls/7" {
		t.Errorf("log: %+v", last)
	}
}

func TestTheHourIsUsedUp(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{HourlyLimit: 10})
	c.get("pulls").is(t, "#", "1")
	g.SpendRequests(8)
	r := c.get("pulls")
	if r.header.Get("X-Ratelimit-Remaining") != "0" || r.header.Get("X-Ratelimit-Limit") != "10" || r.header.Get("Date") != "Sat, 21 Nov 2026 14:00:00 GMT" {
		t.Errorf("headers %v", r.header)
	}
	refused := c.want(403, "GET", "pulls", "")
	if refused.header.Get("X-Ratelimit-Reset") != fmt.Sprint(now.at.Add(time.Hour).Unix()) {
		t.Errorf("reset %s", refused.header.Get("X-Ratelimit-Reset"))
	}
	c.get("/rate_limit").is(t, "resources.core.remaining", "0", "resources.graphql.remaining", "10")
	now.pass(time.Hour)
	c.get("pulls")
}

func TestWhoAsksMustSayWho(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	c.token = ""
	c.want(401, "GET", "pulls/7", "")
	c.token = "t1"
	if r := (&caller{t: t, rt: g, token: "t1"}).ask("POST", "issues/7/comments", `{"body":`); r.status != 400 {
		t.Errorf("half a JSON: %d", r.status)
	}
}

func TestFaults(t *testing.T) {
	post := func(c *caller) reply { return c.ask("POST", "issues/7/comments", `{"body":"x"}`) }
	tests := []struct {
		fault   sandbox.Fault
		wrote   int
		arrived bool
		see     func(reply) bool
	}{
		{sandbox.Fault{Kind: sandbox.FaultReset}, 0, false, func(r reply) bool { return errors.Is(r.err, syscall.ECONNRESET) }},
		{sandbox.Fault{Kind: sandbox.FaultUnsent}, 0, false, func(r reply) bool { return errors.Is(r.err, syscall.ECONNREFUSED) }},
		{sandbox.Fault{Kind: sandbox.FaultLost}, 1, false, func(r reply) bool { return errors.Is(r.err, io.ErrUnexpectedEOF) }},
		{
			sandbox.Fault{Kind: sandbox.FaultTruncate},
			1,
			true,
			func(r reply) bool { return r.status == 201 && errors.Is(r.err, io.ErrUnexpectedEOF) && len(r.body) > 0 },
		},
		{sandbox.Fault{Kind: sandbox.FaultGarbage}, 0, true, func(r reply) bool { return r.status == 200 && r.body[0] == '<' }},
		{sandbox.Fault{Status: 502}, 0, true, func(r reply) bool { return r.status == 502 && r.at("message") == "Server Error" }},
		{sandbox.Fault{Status: 502, CarriedOut: true}, 1, true, func(r reply) bool { return r.status == 502 }},
		{
			sandbox.Fault{Status: 429, Body: `{"message":"slow down"}`, Header: []string{"Retry-After: 7"}},
			0,
			true,
			func(r reply) bool { return r.header.Get("Retry-After") == "7" && r.at("message") == "slow down" },
		},
		{sandbox.Fault{Match: "POST /repos/*/*/issues/*/comments", Status: 500}, 0, true, func(r reply) bool { return r.status == 500 }},
		{sandbox.Fault{Match: "* /repos/**", Status: 500}, 0, true, func(r reply) bool { return r.status == 500 }},
		{sandbox.Fault{Match: "GET /repos/**", Status: 500}, 1, true, func(r reply) bool { return r.status == 201 }},
		{sandbox.Fault{Match: "POST /repos/*/*/issues", Status: 500}, 1, true, func(r reply) bool { return r.status == 201 }},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %d %s", tt.fault.Kind, tt.fault.Status, tt.fault.Match), func(t *testing.T) {
			g, _, c := quiet(t, sandbox.Options{})
			g.AddFault(tt.fault)
			if r := post(c); !tt.see(r) {
				t.Errorf("saw %d %v %s", r.status, r.err, r.body)
			}
			if w := g.Wrote(); len(w.Comments) != tt.wrote {
				t.Errorf("%d comments, want %d", len(w.Comments), tt.wrote)
			}
			if log := g.Requests(); (log[len(log)-1].Status != 0) != tt.arrived {
				t.Errorf("log: %+v", log)
			}
			g.ClearFaults()
			if r := post(c); r.status != 201 {
				t.Errorf("afterwards: %d", r.status)
			}
		})
	}
}

func TestHowLongAFaultLasts(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	statuses := func(n int) string {
		var all []string
		for range n {
			all = append(all, fmt.Sprint(c.ask("GET", "pulls/7", "").status))
		}
		return strings.Join(all, " ")
	}
	g.AddFault(sandbox.Fault{Skip: 1, Times: 2, Status: 503})
	if got := statuses(4); got != "200 503 503 200" {
		t.Error(got)
	}
	g.ClearFaults()
	g.AddFault(sandbox.Fault{For: time.Minute, Status: 403, Header: []string{"X-RateLimit-Reset: {reset}"}})
	r := c.ask("GET", "pulls/7", "")
	if want := fmt.Sprint(now.at.Add(time.Minute).Unix() + 1); r.header.Get("X-Ratelimit-Reset") != want { // a second is rounded up
		t.Errorf("reset %s, want %s", r.header.Get("X-Ratelimit-Reset"), want)
	}
	now.pass(59 * time.Second)
	if got := statuses(1); got != "403" {
		t.Error(got)
	}
	now.pass(time.Second)
	if got := statuses(2); got != "200 200" {
		t.Error(got)
	}
	if g.StruckRequests() != 4 {
		t.Errorf("struck %d", g.StruckRequests())
	}
}

func TestAHangEndsWithTheCaller(t *testing.T) {
	g, _, _ := quiet(t, sandbox.Options{})
	g.AddFault(sandbox.Fault{Kind: sandbox.FaultHang})
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "GET", "https://api.github.com/repos/acme/shop", nil)
	done := make(chan error)
	go func() {
		_, err := g.RoundTrip(req)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
	if _, err := g.RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Errorf("a request of a caller that has gone was answered: %v", err)
	}
}

// TestOverASocket: as a server, GitHub answers the same, under the prefix of an Enterprise Server too, and a fault breaks
// the connection.
func TestOverASocket(t *testing.T) {
	g, _, _ := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7, Conclusion: "failure", Log: "boom"}))
	server := httptest.NewServer(g)
	defer server.Close()
	server.Config.ErrorLog = nil
	ask := func(path string) (*http.Response, string, error) {
		req, _ := http.NewRequest("GET", server.URL+path, nil)
		req.Header.Set("Authorization", "Bearer t")
		res, err := server.Client().Do(req)
		if err != nil {
			return nil, "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res, string(b), err
	}
	res, body, err := ask("/api/v3/repos/acme/shop/pulls?per_page=1&state=all")
	if err != nil || res.StatusCode != 200 || !strings.Contains(body, `"number":7`) {
		t.Fatalf("%v %.200s", err, body)
	}
	g.OpenPull(sandbox.PullSpec{Head: "b1"})
	res, _, err = ask("/api/v3/repos/acme/shop/pulls?per_page=1")
	check(t, err)
	if link := res.Header.Get("Link"); !strings.Contains(link, server.URL+"/api/v3/repos/acme/shop/pulls?page=2") {
		t.Errorf("link %s", link)
	}
	_, jobs, err := ask(fmt.Sprintf("/repos/acme/shop/actions/runs/%d/jobs", id))
	check(t, err)
	job := (reply{body: []byte(jobs)}).at("jobs.0.id")
	if _, log, err := ask("/repos/acme/shop/actions/jobs/" + job + "/logs"); err != nil || log != "boom" {
		t.Errorf("log over a redirect: %q %v", log, err)
	}
	for _, kind := range []sandbox.FaultKind{sandbox.FaultReset, sandbox.FaultTruncate, sandbox.FaultLost} {
		g.ClearFaults()
		g.AddFault(sandbox.Fault{Kind: kind})
		if _, _, err := ask("/repos/acme/shop/pulls/7"); err == nil {
			t.Errorf("%s: no error", kind)
		}
	}
}

func TestPlayersGetInBetween(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	var seen []string
	g.BeforeRequest(func(req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/pulls/7") {
			check(t, g.Push(7, "a2", sandbox.PushSpec{}))
		}
	})
	g.AfterRequest(func(req *http.Request, status int) { seen = append(seen, fmt.Sprint(req.Method, status)) })
	c.get("pulls/7").is(t, "head.sha", sandbox.SHA("a2"))
	if len(seen) != 1 || seen[0] != "GET200" {
		t.Errorf("seen %v", seen)
	}
	(&caller{t: t, rt: g, token: "t1"}).want(404, "GET", "no/such/thing", "")
	if u := g.UnknownRequests(); len(u) != 1 || u[0] != "GET /repos/acme/shop/no/such/thing" {
		t.Errorf("unknown %v", u)
	}
}

// TestEverybodyAtOnce is for the race detector.
func TestEverybodyAtOnce(t *testing.T) {
	g := sandbox.New(sandbox.Options{})
	g.OpenPull(sandbox.PullSpec{Number: 7})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7}))
	g.OnRerun(func(run int64, _ int) { g.StartJobs(run) })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := &caller{t: t, rt: g, token: fmt.Sprint(i)}
			for range 10 {
				c.ask("GET", "pulls/7", "")
				c.ask("GET", "commits/"+sandbox.SHA("a1")+"/check-runs", "")
				c.ask("POST", "check-runs", `{"name":"Q","head_sha":"`+sandbox.SHA("a1")+`","output":{"title":"t","summary":"s"}}`)
				c.ask("POST", fmt.Sprintf("actions/runs/%d/rerun", id), "")
				c.ask("POST", "/graphql", `{"query":"{repository(owner:\"acme\",name:\"shop\"){pullRequest(number:7){reviews(first:9){nodes{body}}}}}"}`)
				g.FinishRun(id, sandbox.Finish{Conclusion: "failure"})
				g.Comment(7, "alice", "x")
				g.OwnCheckRuns("a1")
				g.Due()
				g.Requests()
			}
		})
	}
	wg.Wait()
	if own := g.OwnCheckRuns("a1"); len(own) != 80 {
		t.Errorf("%d check runs, want 80", len(own))
	}
}
