package github_test

// The policy of an organisation: when it is asked for, and what holds where it is not shown any more.

import (
	"crypto/sha1" //nolint:gosec // Git names files by it
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// withPolicies is GitHub with an owner's .github beside the repository.
type withPolicies struct {
	next   http.RoundTripper
	src    string // of the file; "": there is none
	hidden bool   // the repository is not shown
	closed bool   // what it holds is not
	barred bool   // the file may not be shown, by law
	folder bool   // it is one by now
	lags   int    // how often the file is not there yet
	asked  int    // how often something of it was asked for, 304s apart
	stored bool   // a process that begins knows of it from a table
}

func (o *withPolicies) RoundTrip(req *http.Request) (*http.Response, error) {
	path, isOfIt := strings.CutPrefix(req.URL.Path, "/repos/acme/.github")
	if !isOfIt {
		return o.next.RoundTrip(req)
	}
	status, body, tag := http.StatusOK, `{"default_branch":"main"}`, ""
	switch {
	case path != "" && o.closed:
		status, body = http.StatusForbidden, `{"message":"Resource not accessible by integration"}`
	case path != "" && o.barred:
		status, body = http.StatusUnavailableForLegalReasons, `{"message":"Repository access blocked"}`
	case path != "" && o.lags > 0:
		o.lags--
		status, body = http.StatusNotFound, `{"message":"Not Found"}`
	case path != "" && o.folder && !o.hidden:
		body = "[]"
	case o.hidden, path != "" && o.src == "":
		status, body = http.StatusNotFound, `{"message":"Not Found"}`
	case path != "":
		blob := fmt.Sprintf("%x", sha1.Sum([]byte(o.src))) //nolint:gosec // as Git does
		tag, body = `"`+blob+`"`, fmt.Sprintf(`{"type":"file","encoding":"base64","size":%d,"content":%q,"sha":%q}`,
			len(o.src), base64.StdEncoding.EncodeToString([]byte(o.src)), blob)
	}
	if tag != "" && req.Header.Get("If-None-Match") == tag {
		status, body = http.StatusNotModified, ""
	} else {
		o.asked++
	}
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	if tag != "" {
		header.Set("Etag", tag)
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

const (
	orgSage     = "quorum: 1\nreviewers:\n  - {name: sage, author: 'sage[bot]'}\n"
	orgEnforced = orgSage + "enforce: {reviewers: [sage]}\n"
)

// inOrganisation returns a world with an owner's policy, and what holds that.
func inOrganisation(t *testing.T, src string, change ...func(*setup)) (*world, *withPolicies) {
	t.Helper()
	at := &withPolicies{src: src}
	return newWorld(t, append(change, func(s *setup) { s.wire = at.before })...), at
}

func (o *withPolicies) before(next http.RoundTripper) http.RoundTripper {
	o.next = next
	return o
}

// restart begins anew, as another process would.
func (o *withPolicies) restart(w *world) {
	w.replica(setup{token: "ghs_x", now: time.Now, wire: o.before})
	if o.stored {
		github.WithKnownOrganisation(w.forge, "acme", w.last.Snapshot.File.Org)
	}
}

// reviewersOf are the names of those that the policy names.
func reviewersOf(p quorum.Policy) string {
	var names []string
	for _, r := range p.Reviewers {
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}

// Many looks ask for an organisation's policy once a minute, at no cost where it is as it was; where there is none, once in
// five minutes.
func TestRequestsForAnOrganisation(t *testing.T) {
	for name, as := range map[string]struct {
		src  string
		most int
	}{"a policy": {orgSage, 1}, "none": {"", 4}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, at := inOrganisation(t, as.src)
				for range 19 * 6 {
					w.observe()
					pass(10 * time.Second)
				}
				if at.asked > as.most {
					t.Errorf("19 minutes of looks cost %d requests, want at most %d", at.asked, as.most)
				}
			})
		})
	}
}

// A repository without a policy has the organisation's; one with a policy has its own, and what is enforced.
func TestAnOrganisationsPolicyHolds(t *testing.T) {
	const own = "reviewers:\n  - {name: mine, author: 'mine[bot]'}\n"
	for name, row := range map[string]struct{ org, repo, reviewers string }{
		"no file":          {orgSage, "", "sage"},
		"a file":           {orgSage, own, "mine"},
		"a file, enforced": {orgEnforced, own, "mine sage"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, _ := inOrganisation(t, row.org, func(s *setup) { s.policy = row.repo })
				w.look()
				if got := reviewersOf(w.last.Policy); got != row.reviewers {
					t.Errorf("%s review, want %s: %+v", got, row.reviewers, w.last.Snapshot.File)
				}
				record, file := w.last.Check.Text, w.last.Snapshot.File
				if file.Org.Repo != "acme/.github" || file.Org.SHA == "" || !strings.Contains(record, `"org":"`+file.Org.SHA+`"`) {
					t.Errorf("the record has not %+v: %s", file.Org, record)
				}
				w.reads("in_progress", "")
			})
		})
	}
}

// A new policy of the organisation is taken a minute after at the latest; what stood under the old one does not.
func TestAnOrganisationsPolicyChanges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := inOrganisation(t, orgSage, func(s *setup) { s.policy = "reviewers:\n  - {name: mine, author: 'mine[bot]'}\n" })
		w.comment("mine[bot]", "## Review\n\nRead all of it.\n\n**Ready to merge?** Yes\n")
		w.look()
		w.reads("success", "")
		at.src = orgEnforced
		pass(61 * time.Second)
		w.look()
		w.reads("in_progress", "")
	})
}

// What was known and is not shown any more is a broken policy: in the same process, in the next, on the next head. What
// somebody took away is none.
func TestAnOrganisationsPolicyThatIsHidden(t *testing.T) {
	const own = "reviewers:\n  - {name: mine, author: 'mine[bot]'}\n"
	for name, row := range map[string]struct {
		repo   string
		change func(t *testing.T, w *world, at *withPolicies)
		want   quorum.FileState
	}{
		"hidden":              {own, func(_ *testing.T, _ *world, at *withPolicies) { at.hidden = true }, quorum.FileBroken},
		"hidden, and no file": {"", func(_ *testing.T, _ *world, at *withPolicies) { at.hidden = true }, quorum.FileBroken},
		"hidden at a restart": {own, func(_ *testing.T, w *world, at *withPolicies) {
			at.hidden = true
			at.restart(w)
		}, quorum.FileBroken},
		"hidden at a restart, and no file": {"", func(_ *testing.T, w *world, at *withPolicies) {
			at.hidden = true
			at.restart(w)
		}, quorum.FileBroken},
		"it shows its name, and not what it holds": {own, func(_ *testing.T, _ *world, at *withPolicies) { at.closed = true }, quorum.FileBroken},
		"nor after a restart": {own, func(_ *testing.T, w *world, at *withPolicies) {
			at.closed = true
			at.restart(w)
		}, quorum.FileBroken},
		"a new head after a restart": {own, func(t *testing.T, w *world, at *withPolicies) {
			t.Helper()
			at.hidden = true
			at.restart(w)
			w.must(w.g.Push(7, "a2", sandbox.PushSpec{Force: true}))
		}, quorum.FileBroken},
		"two new heads, each in a process of its own": {own, func(t *testing.T, w *world, at *withPolicies) {
			t.Helper()
			at.hidden = true
			for _, head := range []string{"a2", "a3"} {
				at.restart(w)
				w.must(w.g.Push(7, head, sandbox.PushSpec{Force: true}))
				w.look()
			}
			at.restart(w)
		}, quorum.FileBroken},
		"taken away":                          {own, func(_ *testing.T, _ *world, at *withPolicies) { at.src = "" }, quorum.FileValid},
		"taken away, and no file":             {"", func(_ *testing.T, _ *world, at *withPolicies) { at.src = "" }, quorum.FileMissing},
		"taken away at a restart":             {own, func(_ *testing.T, w *world, at *withPolicies) { at.src = ""; at.restart(w) }, quorum.FileValid},
		"taken away at a restart and no file": {"", func(_ *testing.T, w *world, at *withPolicies) { at.src = ""; at.restart(w) }, quorum.FileMissing},
		"broken":                              {own, func(_ *testing.T, _ *world, at *withPolicies) { at.src = "mode: perhaps\n" }, quorum.FileBroken},
		"broken under another name": {"", func(_ *testing.T, _ *world, at *withPolicies) {
			at.src = "check: Another\nmode: perhaps\n"
		}, quorum.FileBroken},
		"the file is no YAML": {own, func(_ *testing.T, w *world, _ *withPolicies) {
			w.g.SetFile(".github/review-coordinator.yml", "", "check: Another\nreviewers: [\n")
		}, quorum.FileBroken},
		"broken, hidden and broken": {"", func(t *testing.T, w *world, at *withPolicies) {
			t.Helper()
			for _, at.src = range []string{"mode: perhaps\n", "mode: [perhaps\n"} {
				pass(61 * time.Second)
				w.look()
				at.hidden = !at.hidden
			}
		}, quorum.FileBroken},
		"no file, and hidden": {own, func(t *testing.T, w *world, at *withPolicies) {
			t.Helper()
			at.folder = true
			pass(61 * time.Second)
			w.look()
			at.hidden = true
		}, quorum.FileBroken},
		"mended": {own, func(t *testing.T, w *world, at *withPolicies) {
			t.Helper()
			at.hidden = true
			pass(61 * time.Second)
			w.look()
			at.hidden = false
		}, quorum.FileValid},
	} {
		look := func(t *testing.T, stored bool) {
			t.Helper()
			bubble(t, func(t *testing.T) {
				w, at := inOrganisation(t, "check: Our quorum\n"+orgEnforced, func(s *setup) { s.policy = row.repo })
				at.stored = stored
				w.look()
				w.reads("in_progress", "")
				name := w.last.Check.Name
				if name != "Our quorum" {
					t.Errorf("the check is named %q", name)
				}
				row.change(t, w, at)
				pass(61 * time.Second)
				w.look()
				file := w.last.Snapshot.File
				if file.State != row.want {
					t.Fatalf("the policy is in state %d, want %d: %+v", file.State, row.want, file)
				}
				if row.want == quorum.FileBroken {
					w.reads("action_required", "")
					isNew := stored && strings.Contains(t.Name(), "new_head") // no check of ours is read then that tells the name
					if w.last.Check.Name != name && !isNew {                  // that is required, and must not stay as it was
						t.Errorf("the check is named %q, was %q", w.last.Check.Name, name)
					}
					where := "acme/.github"
					if !file.Org.Broken { // the repository's own file is
						where = ".github/review-coordinator.yml"
					}
					if !strings.Contains(w.last.Check.Summary, where) {
						t.Errorf("the check does not say that it is %s: %s", where, w.last.Check.Summary)
					}
					w.look() // and it stays so
					w.reads("action_required", "")
				}
			})
		}
		t.Run(name, func(t *testing.T) { look(t, false) })
		t.Run(name+", with a table", func(t *testing.T) { look(t, true) })
	}
}

// One that was never known is none, unless it is configured, or the table knows it from before a start.
func TestAnOrganisationsPolicyThatWasNeverShown(t *testing.T) {
	for name, row := range map[string]struct {
		begin func(w *world, at *withPolicies)
		want  quorum.FileState
	}{
		"by its name": {func(_ *world, at *withPolicies) { at.hidden = true }, quorum.FileValid},
		"configured": {func(w *world, at *withPolicies) {
			at.hidden = true
			github.WithPolicyRepository(w.forge, "acme/.github")
		}, quorum.FileBroken},
		"known from before": {func(w *world, at *withPolicies) {
			at.hidden = true
			github.WithKnownOrganisation(w.forge, "Acme", quorum.OrganisationFile{Repo: "Acme/.github", SHA: "b10b"})
		}, quorum.FileBroken},
		"known from before, and there": {func(w *world, _ *withPolicies) {
			github.WithKnownOrganisation(w.forge, "acme", quorum.OrganisationFile{Repo: "acme/.github", SHA: "b10b"})
		}, quorum.FileValid},
		"known from before, and taken away": {func(w *world, at *withPolicies) {
			at.src = ""
			github.WithKnownOrganisation(w.forge, "acme", quorum.OrganisationFile{Repo: "acme/.github", SHA: "b10b"})
		}, quorum.FileValid},
		"known only after it was asked for": {func(w *world, at *withPolicies) { // no older news than what GitHub said
			at.src = ""
			w.observe()
			at.hidden = true
			github.WithKnownOrganisation(w.forge, "acme", quorum.OrganisationFile{Repo: "acme/.github", SHA: "b10b"})
		}, quorum.FileValid},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, at := inOrganisation(t, orgEnforced, func(s *setup) { s.policy = "reviewers:\n  - {name: mine, author: 'mine[bot]'}\n" })
				row.begin(w, at)
				_, s := w.observe()
				saysWhy := strings.Contains(s.File.Problem, "let the GitHub App see it")
				if s.File.State != row.want || saysWhy != (row.want == quorum.FileBroken) {
					t.Errorf("the policy is %+v", s.File)
				}
			})
		})
	}
}

// Where GitHub answers nothing of use, no look is made; but not each of them asks.
func TestAnOrganisationsPolicyThatIsBarred(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := inOrganisation(t, orgEnforced)
		at.barred = true
		look := func() error {
			_, _, err := w.forge.Observe(t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: 7})
			return err
		}
		first := look()
		asked := at.asked
		if second := look(); first == nil || second == nil || at.asked != asked {
			t.Errorf("%v; then %v after %d more requests", first, second, at.asked-asked)
		}
		pass(11 * time.Second)
		if err := look(); err == nil || at.asked == asked {
			t.Errorf("%v, after %d more requests", err, at.asked-asked)
		}
		at.barred = false
		pass(11 * time.Second)
		if err := look(); err != nil {
			t.Error(err)
		}
	})
}

// A copy of GitHub's that lags does not take the policy away: the look fails, and the next one reads it.
func TestAnOrganisationsPolicyThatIsMissingOnce(t *testing.T) {
	for name, atRestart := range map[string]bool{"in the same process": false, "in the next": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, at := inOrganisation(t, orgEnforced, func(s *setup) { s.policy = "reviewers:\n  - {name: mine, author: 'mine[bot]'}\n" })
				w.look()
				at.lags = 1
				if atRestart {
					at.restart(w)
				}
				pass(61 * time.Second)
				if _, _, err := w.forge.Observe(t.Context(), w.pr); !errors.Is(err, client.ErrTransport) {
					t.Errorf("a look at which it was missing: %v", err)
				}
				w.look()
				if file := w.last.Snapshot.File; file.State != quorum.FileValid || file.Org.SHA == "" {
					t.Errorf("the policy is %+v", file)
				}
			})
		})
	}
}
