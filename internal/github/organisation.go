package github

// The policy of an owner, which stands beside those of its repositories.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// How long an answer about an organisation's policy is good for: a file is asked for again at no cost, where there is
// none each time costs a request.
const (
	organisationPause = time.Minute
	noFilePause       = 5 * time.Minute
	faultPause        = 10 * time.Second // an answer that tells nothing stands for all looks of the owner so long

	maxOwners = 64 // whose policies are kept
)

// organisationPolicies are the policies of owners as a forge read them last. It may be used by several goroutines.
type organisationPolicies struct {
	repo string // owner/name that is configured; "": each owner's own

	mu        sync.Mutex
	byOwner   map[string]*organisationRead
	forgotten int // how often what is known was said to be old
}

// An organisationRead is what was read last for an owner.
type organisationRead struct {
	turn  chan struct{} // who holds it reads and writes what follows: many looks ask once
	asked time.Time     // zero: it must be asked for
	known organisationPolicy

	fault     error     // what came instead of an answer
	faulty    time.Time // when it did
	forgotten int       // as of that
}

// An organisationPolicy is the policy of an owner. The zero one is none.
type organisationPolicy struct {
	file    quorum.OrganisationFile
	policy  *config.Organisation // the last that could be used; nil: none was read
	check   string               // the name of the check that shows the problem, where a repository gives none; "": it is not known
	problem string               // why it cannot be used; "": nothing is wrong
}

// repositoryOf returns the repository that holds the policy for an owner's repositories.
func (all *organisationPolicies) repositoryOf(owner string) quorum.PR {
	if owner, name, ok := strings.Cut(all.repo, "/"); ok {
		return quorum.PR{Owner: owner, Repo: name}
	}
	return quorum.PR{Owner: owner, Repo: config.OrganisationRepo}
}

// entryOf returns what is known for an owner: at first, that. all.mu is held.
func (all *organisationPolicies) entryOf(owner string, first organisationPolicy) *organisationRead {
	if all.byOwner == nil {
		all.byOwner = map[string]*organisationRead{}
	}
	key := strings.ToLower(owner)
	r, known := all.byOwner[key]
	if !known {
		if len(all.byOwner) >= maxOwners {
			clear(all.byOwner)
		}
		r = &organisationRead{turn: make(chan struct{}, 1), known: first}
		all.byOwner[key] = r
	}
	return r
}

// remember notes the policy that an owner had when it was read last, unless anything is known, or another repository is asked now.
func (all *organisationPolicies) remember(owner string, file quorum.OrganisationFile) {
	at := all.repositoryOf(owner)
	if !strings.EqualFold(file.Repo, at.Owner+"/"+at.Repo) {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.entryOf(owner, organisationPolicy{file: file})
}

// take returns what is known for an owner, in the caller's turn, which must be given back.
func (all *organisationPolicies) take(ctx context.Context, owner string) (*organisationRead, error) {
	all.mu.Lock()
	r := all.entryOf(owner, organisationPolicy{})
	forgotten := all.forgotten
	all.mu.Unlock()
	select {
	case r.turn <- struct{}{}:
		if r.forgotten != forgotten {
			r.forgotten, r.asked = forgotten, time.Time{}
		}
		return r, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// isFresh reports whether what is known need not be asked for.
func (r *organisationRead) isFresh(now time.Time) bool {
	pause := noFilePause
	if r.known.file.Repo != "" {
		pause = organisationPause
	}
	return !r.asked.IsZero() && now.Sub(r.asked).Abs() < pause
}

// stillIs reports whether an owner's policy is known to be that blob.
func (all *organisationPolicies) stillIs(ctx context.Context, owner string, file quorum.OrganisationFile, now time.Time) bool {
	r, err := all.take(ctx, owner)
	if err != nil {
		return false
	}
	defer func() { <-r.turn }()
	return r.isFresh(now) && r.known.file == file
}

// forgetAll has each owner's policy asked for again.
func (all *organisationPolicies) forgetAll() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.forgotten++
}

// read returns an owner's policy. Where it was known, or is configured, and cannot be read any more, there is a problem.
func (all *organisationPolicies) read(ctx context.Context, api *client.Client, now time.Time, owner string) (organisationPolicy, error) {
	r, err := all.take(ctx, owner)
	if err != nil {
		return organisationPolicy{}, err
	}
	defer func() { <-r.turn }()
	switch {
	case r.isFresh(now):
		return r.known, nil
	case r.fault != nil && now.Sub(r.faulty).Abs() < faultPause:
		return organisationPolicy{}, r.fault
	}
	r.fault = nil
	at := pullReader{client: api, pr: all.repositoryOf(owner), news: &newsFlag{}}
	name := at.pr.Owner + "/" + at.pr.Repo
	src, sha, err := at.readFile(ctx, config.OrganisationFile, "")
	switch {
	case isHidden(err) && (r.known.file.SHA != "" || all.repo != ""):
		isLost, fault := isLostFile(ctx, at)
		if fault != nil {
			return organisationPolicy{}, fmt.Errorf("read the policy of %s: %w", owner, fault)
		}
		r.known = r.known.whenGone(name, isLost, all.repo != "")
	case isHidden(err):
		r.known = organisationPolicy{}
	case errors.Is(err, errNoFile):
		r.known = r.known.brokenBy(name, cmp.Or(sha, r.known.file.SHA), fmt.Sprintf("%s of %s is no file.", config.OrganisationFile, name))
	case err != nil:
		err = fmt.Errorf("read the policy of %s: %w", owner, err)
		if isRefused(err) { // each look asked in its turn, and one after another got the same
			r.fault, r.faulty = err, now
		}
		return organisationPolicy{}, err
	case r.known.file.SHA != sha || r.known.policy == nil || r.known.problem != "":
		r.known = r.known.parseNext(name, sha, src)
	}
	r.asked = now
	return r.known, nil
}

// isHidden reports whether GitHub shows no such thing to this token.
func isHidden(err error) bool {
	var refused *client.APIError
	return client.IsNotFound(err) || errors.As(err, &refused) && refused.Status == http.StatusForbidden && refused.Missing
}

// isRefused reports whether GitHub answered that it cannot say, or may not.
func isRefused(err error) bool {
	var refused *client.APIError
	return errors.As(err, &refused) &&
		(refused.Status == http.StatusUnavailableForLegalReasons || refused.Status >= http.StatusInternalServerError)
}

// isLostFile reports whether GitHub does not show an organisation's policy although nobody took it away: its repository is hidden,
// or what that holds. A file that is there after all was missing from a copy of GitHub's that lagged: that is an [client.ErrTransport].
func isLostFile(ctx context.Context, at pullReader) (bool, error) {
	var about restRepo
	if _, err := at.client.Get(ctx, at.repoPath(), &about); err != nil {
		return isHidden(err), unlessHidden(err)
	}
	_, _, err := at.readFile(ctx, config.OrganisationFile, "")
	switch {
	case client.IsNotFound(err):
		return false, nil
	case err == nil:
		return false, fmt.Errorf("%s of %s was missing and is there: %w", config.OrganisationFile, at.pr.Repo, client.ErrTransport)
	}
	return isHidden(err), unlessHidden(err)
}

func unlessHidden(err error) error {
	if isHidden(err) {
		return nil
	}
	return err
}

// whenGone returns what holds once the file is not shown any more: none if somebody took it away, but for one that is
// configured.
func (o organisationPolicy) whenGone(name string, isLost, isConfigured bool) organisationPolicy {
	switch {
	case isLost:
		return o.brokenBy(name, o.file.SHA, lostOrganisation(name))
	case isConfigured:
		return o.brokenBy(name, "", fmt.Sprintf("%s, which --policy-repository names, has no %s on its default branch.",
			name, config.OrganisationFile))
	}
	return organisationPolicy{}
}

// lostOrganisation says what to do about a repository that is not shown.
func lostOrganisation(name string) string {
	return fmt.Sprintf("%s, which holds the organisation's policy, cannot be read any more, or not by this token: "+
		"let the GitHub App see it (contents: read). A job's GITHUB_TOKEN reads only what is public, and its own repository.", name)
}

// brokenBy is a policy that comes after o and cannot be used. It is told under the name of the check that o has: a rule
// may require that, and it must not stay green.
func (o organisationPolicy) brokenBy(name, sha, problem string) organisationPolicy {
	broken := organisationPolicy{
		file: quorum.OrganisationFile{Repo: name, SHA: sha, Broken: true}, policy: o.policy, problem: problem,
	}
	if o.policy != nil {
		broken.check = o.policy.Check()
	}
	return broken
}

// parseNext is the policy of a file that comes after o.
func (o organisationPolicy) parseNext(name, sha string, src []byte) organisationPolicy {
	policy, err := config.ParseOrganisation(name+"/"+config.OrganisationFile, src)
	if err == nil {
		return organisationPolicy{file: quorum.OrganisationFile{Repo: name, SHA: sha}, policy: policy}
	}
	broken := o.brokenBy(name, sha, err.Error())
	if o.policy == nil {
		unread, _ := config.Parse("", src) // of a broken one there is the name
		broken.check = unread.Check
	}
	return broken
}
