// Package workkey is the keys of the daemon's work table: each names something to look at. It promises that what
// [Parse] reads off a key has the shape of GitHub's own names, for a key was made from a payload once.
package workkey

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Kinds of keys, as the table lists them.
const (
	KindApp    = "app"    // "app": all installations, and the deliveries that failed
	KindTenant = "tenant" // "77": an installation's repositories
	KindRepo   = "repo"   // "77/acme/shop": a repository's policy and its open pull requests
	KindHead   = "head"   // "77/acme/shop@SHA": the pull requests of a commit
	KindPull   = "pull"   // "77/acme/shop#7"
	KindGroup  = "group"  // "77/acme/shop!SHA!BRANCH": a merge queue's commit, its branch in base64
)

// App is the one key of the host itself. Its tenant is 0.
const App = "app"

// Tenant is the key of an installation.
func Tenant(tenant int64) string { return strconv.FormatInt(tenant, 10) }

// Repo is the key of a repository, and the group of everything in the repository. Names come from GitHub alone, which
// spells them one way.
func Repo(tenant int64, owner, repo string) string {
	return strconv.FormatInt(tenant, 10) + "/" + owner + "/" + repo
}

// Head is the key of a commit whose pull requests must be found.
func Head(tenant int64, owner, repo, sha string) string {
	return Repo(tenant, owner, repo) + "@" + sha
}

// Pull is the key of a pull request.
func Pull(tenant int64, pr quorum.PR) string {
	return Repo(tenant, pr.Owner, pr.Repo) + "#" + strconv.Itoa(pr.Number)
}

// Group is the key of a merge queue's commit.
func Group(tenant int64, g quorum.GroupRef) string {
	return Repo(tenant, g.Owner, g.Repo) + "!" + g.Head + "!" + base64.RawURLEncoding.EncodeToString([]byte(g.Branch))
}

// A Key is a key that was read.
type Key struct {
	Tenant      int64
	Owner, Repo string
	Head        string
	Number      int
	Branch      string // of a group; hostile
}

// GroupRef is the merge queue's group of a key of one.
func (p Key) GroupRef() quorum.GroupRef {
	return quorum.GroupRef{Owner: p.Owner, Repo: p.Repo, Head: p.Head, Branch: p.Branch}
}

// PR is the pull request of a key of one.
func (p Key) PR() quorum.PR { return quorum.PR{Owner: p.Owner, Repo: p.Repo, Number: p.Number} }

var keyShape = lazy.Regexp(`^(\d{1,19})(?:/([A-Za-z0-9._-]{1,100})/([A-Za-z0-9._-]{1,100})` +
	`(?:@([0-9a-f]{40,64})|#(\d{1,10})|!([0-9a-f]{40,64})!([A-Za-z0-9_-]{1,600}))?)?$`)

// Parse reads any key but App.
func Parse(key string) (p Key, ok bool) {
	m := keyShape().FindStringSubmatch(key)
	if m == nil {
		return Key{}, false
	}
	var err1, err2 error
	p.Tenant, err1 = strconv.ParseInt(m[1], 10, 64)
	p.Owner, p.Repo, p.Head = m[2], m[3], m[4]
	if m[5] != "" {
		p.Number, err2 = strconv.Atoi(m[5])
	}
	if m[6] != "" {
		branch, err := base64.RawURLEncoding.DecodeString(m[7])
		p.Head, p.Branch, err2 = m[6], string(branch), err
		if !p.GroupRef().IsValid() {
			return Key{}, false
		}
	}
	return p, err1 == nil && err2 == nil
}

// SplitName reads owner/name.
func SplitName(full string) (owner, repo string, ok bool) {
	owner, repo, ok = strings.Cut(full, "/")
	return owner, repo, ok && owner != "" && repo != "" && !strings.Contains(repo, "/")
}
