package main

// A pull request, and a repository, as people have them at hand: a number, OWNER/NAME#N, or the address in their
// browser's line.

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/clone"
	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// pullForms tells in a hint how a pull request is written.
const pullForms = "write it as 7, octo/shop#7, or its address: https://github.com/octo/shop/pull/7"

// pullShape matches a pull request as it is written, and the path of its page or of one below it: /files, /checks, /commits/….
var pullShape = lazy.Regexp(`^(?:#?|([A-Za-z0-9._-]{1,100})/([A-Za-z0-9._-]{1,100})(?:#|/pull/))([0-9]{1,9})(?:/.*)?$`)

// parsePull reads a pull request as a person writes it, on the GitHub whose API is at api. Its repository is empty where
// only a number is given.
func parsePull(text, api string) (quorum.PR, error) {
	text = strings.TrimSpace(text)
	named := text
	page, isAddress, err := addressOnSite(text, api)
	if err != nil {
		return quorum.PR{}, err
	}
	if isAddress {
		named = strings.TrimPrefix(page, "/")
	}
	m := pullShape().FindStringSubmatch(named)
	switch {
	case m == nil && strings.Contains(text, "/issues/"):
		return quorum.PR{}, usageError(
			fmt.Errorf("%q is an issue's address", clipArgument(text)), "a pull request's has /pull/ where this has /issues/",
		)
	case m == nil, isAddress && m[1] == "", m[1] != "" && (!clone.IsName(m[1]) || !clone.IsName(m[2])):
		return quorum.PR{}, usageError(fmt.Errorf("%q is no pull request", clipArgument(text)), pullForms)
	}
	n, _ := strconv.Atoi(m[3]) // at most nine digits
	if n == 0 {
		return quorum.PR{}, usageError(fmt.Errorf("%q is no pull request: they are counted from 1", clipArgument(text)), pullForms)
	}
	return quorum.PR{Owner: m[1], Repo: m[2], Number: n}, nil
}

// addressOnSite returns the path of an address, with or without https://, on the website of the GitHub whose API is at
// api; is is false for a text that is no address. An address elsewhere is an error: the token is for this one.
func addressOnSite(text, api string) (page string, is bool, err error) {
	site := hostOfSite(api)
	if !strings.Contains(text, "://") {
		if !strings.HasPrefix(strings.ToLower(text), site+"/") {
			return "", false, nil
		}
		text = "https://" + text
	}
	u, _ := url.Parse(text)
	if u == nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", false, nil // it is no address, which is no error here
	}
	host := strings.ToLower(u.Hostname())
	if host == site || host == "www."+site {
		return u.Path, true, nil
	}
	hint := "the token is for " + site + "; of a GitHub Enterprise Server, set GITHUB_API_URL to https://HOST/api/v3"
	if host == "github.com" {
		hint = "GITHUB_API_URL names " + site + ": unset it to ask github.com"
	}
	return "", false, usageError(fmt.Errorf("%q is at %s and not at %s", clipArgument(text), clipArgument(host), site), hint)
}

// clipArgument returns an argument as it may stand in an error: a pasted page is not printed.
func clipArgument(text string) string {
	const most = 120
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// resolvePull returns the pull request that an argument names. A number alone is one of the repository that is named,
// else of the job's, else of the clone's origin.
func (c *command) resolvePull(text, repo, command string) (quorum.PR, error) {
	pr, err := parsePull(text, c.Getenv("GITHUB_API_URL"))
	if err != nil {
		return pr, err
	}
	if pr.Owner == "" {
		pr.Owner, pr.Repo, err = c.resolveRepo(repo, command)
		return pr, err
	}
	if repo == "" {
		return pr, nil
	}
	owner, name, err := c.splitRepo(repo)
	if err == nil && !(strings.EqualFold(owner, pr.Owner) && strings.EqualFold(name, pr.Repo)) {
		err = usageError(fmt.Errorf("--repo %s is not the repository of %s", repo, pr), "leave out --repo: the pull request names its own")
	}
	return pr, err
}

// resolveRepo returns the repository that is named, else the job's, else that of the clone's origin.
func (c *command) resolveRepo(named, command string) (owner, name string, err error) {
	here := clone.Clone{}
	if c.Folder != "" && cmp.Or(named, c.Getenv("GITHUB_REPOSITORY")) == "" {
		if here, _, err = clone.Find(c.Folder); err != nil {
			return "", "", usageError(err, "coordinator "+command+" --repo OWNER/NAME")
		}
	}
	return c.resolveRepoIn(here, named, command)
}

// resolveRepoIn is resolveRepo for a clone that was read.
func (c *command) resolveRepoIn(here clone.Clone, named, command string) (owner, name string, err error) {
	if named = cmp.Or(named, c.Getenv("GITHUB_REPOSITORY")); named != "" {
		return c.splitRepo(named)
	}
	host := hostOfPages(c.Getenv("GITHUB_API_URL"))
	repo, found := here.Repository(host)
	if !found {
		says, hint := "", "coordinator "+command+" --repo OWNER/NAME"
		if at := here.Origin.Host; at != "" {
			says = ", but one whose origin is on " + oneLine(at)
			hint += "; for a GitHub Enterprise Server set GITHUB_API_URL=https://HOST/api/v3"
		}
		return "", "", usageError(
			fmt.Errorf("no repository: there is no --repo, no GITHUB_REPOSITORY, and no clone whose origin is on %s%s", oneLine(host), says), hint,
		)
	}
	return c.splitRepo(repo)
}

// hostOfPages returns the host, with its port, of the website that belongs to an API's address.
func hostOfPages(api string) string {
	u, err := url.Parse(siteOfAPI(api).webURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// hostOfSite is hostOfPages without a port.
func hostOfSite(api string) string {
	host, _, _ := strings.Cut(hostOfPages(api), ":")
	return host
}

// splitRepo reads a repository as a person writes it: OWNER/NAME, or its address.
func (c *command) splitRepo(repo string) (owner, name string, err error) {
	text := strings.TrimSpace(repo)
	page, is, err := addressOnSite(text, c.Getenv("GITHUB_API_URL"))
	if err != nil {
		return "", "", err
	}
	if is {
		text = strings.TrimSuffix(strings.Trim(page, "/"), ".git")
	}
	owner, name, found := strings.Cut(text, "/")
	if !found || !clone.IsName(owner) || !clone.IsName(name) {
		return "", "", usageError(fmt.Errorf("%q is no repository", clipArgument(repo)), "write it as OWNER/NAME: --repo octo/shop")
	}
	return owner, name, nil
}

// pathInRepository returns the path of a policy on the default branch, as --config names it. A file of this machine,
// which a person may well mean, is refused: it would be looked for in the repository, and not found.
func pathInRepository(config string) (string, error) {
	clean := path.Clean(config)
	first, _, _ := strings.Cut(clean, "/")
	switch {
	case config == "":
		return "", nil
	case strings.ContainsAny(config, "\\:~"), strings.HasSuffix(config, "/"), first == "", first == ".", first == "..":
		return "", usageError(
			fmt.Errorf("--config %q is no path of a file in the repository", clipArgument(config)),
			"it is a path on the default branch, as .github/review-coordinator.yml; coordinator explain PR --policy FILE asks what a file on this machine would say",
		)
	}
	return clean, nil
}
