package daemon

// The keys of the table. Each names something to look at; what is read off a key is checked, for a key was made from a
// payload once.

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Kinds of keys, as the table lists them.
const (
	kindApp    = "app"    // "app": all installations, and the deliveries that failed
	kindTenant = "tenant" // "77": an installation's repositories
	kindRepo   = "repo"   // "77/acme/shop": a repository's policy and its open pull requests
	kindHead   = "head"   // "77/acme/shop@SHA": the pull requests of a commit
	kindPull   = "pull"   // "77/acme/shop#7"
)

// appKey is the one key of the host itself. Its tenant is 0.
const appKey = "app"

func tenantKey(tenant int64) string { return strconv.FormatInt(tenant, 10) }

// repoKey is also the group of everything in the repository. Names come from GitHub alone, which spells them one way.
func repoKey(tenant int64, owner, repo string) string {
	return strconv.FormatInt(tenant, 10) + "/" + owner + "/" + repo
}

func headKey(tenant int64, owner, repo, sha string) string {
	return repoKey(tenant, owner, repo) + "@" + sha
}

func pullKey(tenant int64, pr quorum.PR) string {
	return repoKey(tenant, pr.Owner, pr.Repo) + "#" + strconv.Itoa(pr.Number)
}

// A place is what a key says.
type place struct {
	tenant      int64
	owner, repo string
	head        string
	number      int
}

func (p place) pr() quorum.PR { return quorum.PR{Owner: p.owner, Repo: p.repo, Number: p.number} }

var keyShape = regexp.MustCompile(`^(\d{1,19})(?:/([A-Za-z0-9._-]{1,100})/([A-Za-z0-9._-]{1,100})(?:@([0-9a-f]{40,64})|#(\d{1,10}))?)?$`)

// parseKey reads any key but appKey.
func parseKey(key string) (p place, ok bool) {
	m := keyShape.FindStringSubmatch(key)
	if m == nil {
		return place{}, false
	}
	var err1, err2 error
	p.tenant, err1 = strconv.ParseInt(m[1], 10, 64)
	p.owner, p.repo, p.head = m[2], m[3], m[4]
	if m[5] != "" {
		p.number, err2 = strconv.Atoi(m[5])
	}
	return p, err1 == nil && err2 == nil
}

// split reads owner/name.
func split(full string) (owner, repo string, ok bool) {
	owner, repo, ok = strings.Cut(full, "/")
	return owner, repo, ok && owner != "" && repo != "" && !strings.Contains(repo, "/")
}
