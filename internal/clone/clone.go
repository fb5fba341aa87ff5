// Package clone asks git for the clone that a folder is in, and for the repositories on GitHub that the clone came from.
//
// It promises to change nothing, and never to show a remote's address, which may hold a secret.
package clone

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A Clone is a working folder of Git's.
type Clone struct {
	Root    string
	Origin  remote // zero: there is none of that name
	remotes []remote
}

// A remote is what the address of a clone's remote names. The address may hold a secret: it is not kept.
type remote struct {
	Host    string // with its port, where that is of pages
	path    string
	isPages bool
}

// Find returns the clone that a folder is in; found is false if it is in none.
func Find(dir string) (clone Clone, found bool, err error) {
	root, err := git(dir, "rev-parse", "--show-toplevel")
	if errors.Is(err, errNoClone) {
		return clone, false, nil
	}
	if err != nil {
		return clone, false, err
	}
	clone.Root = strings.TrimSuffix(root, "\n")
	list, err := git(dir, "remote", "--verbose")
	for line := range strings.Lines(list) {
		name, rest, _ := strings.Cut(line, "\t")
		if i := strings.LastIndex(rest, " (fetch)"); i >= 0 {
			r := parseRemote(rest[:i])
			if clone.remotes = append(clone.remotes, r); name == "origin" {
				clone.Origin = r
			}
		}
	}
	return clone, true, err
}

var errNoClone = errors.New("the folder is in no clone")

// git returns what git prints. Its errors carry git's own words, which name files and no addresses.
func git(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the arguments are constants of this file
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		words, _, _ := strings.Cut(string(exit.Stderr), "\n")
		if strings.Contains(words, "not a git repository") || strings.Contains(words, "must be run in a work tree") {
			return "", errNoClone
		}
		err = errors.New(words)
	}
	if err != nil {
		return "", fmt.Errorf("find the clone: git %s: %w", args[0], err)
	}
	return string(out), nil
}

// IsName reports whether GitHub could give that name to an account or a repository.
func IsName(name string) bool {
	isOther := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r))
	}
	return name != "" && len(name) <= 100 && name != "." && name != ".." && strings.IndexFunc(name, isOther) < 0
}

func parseRemote(address string) (r remote) {
	if u, err := url.Parse(address); err == nil && strings.Contains(address, "://") {
		r = remote{u.Host, u.Path, true}
		if strings.Contains(u.Scheme, "ssh") || u.Scheme == "git" {
			r = remote{u.Hostname(), u.Path, false} // the port is another service's
		}
	} else if user, rest, isShort := strings.Cut(address, ":"); isShort && !strings.Contains(user, "/") {
		r = remote{user[strings.LastIndex(user, "@")+1:], rest, false}
	}
	r.Host = strings.ToLower(r.Host)
	if r.Host == "ssh.github.com" || r.Host == "www.github.com" {
		r.Host = "github.com"
	}
	return r
}

// repositoryOn returns what a remote's address names on the GitHub whose pages are on that host; named is false if it
// names nothing there.
func (r remote) repositoryOn(host string) (repo string, named bool) {
	if !r.isPages {
		host, _, _ = strings.Cut(host, ":")
	}
	owner, name, _ := strings.Cut(strings.Trim(r.path, "/"), "/")
	name = strings.TrimSuffix(name, ".git")
	if r.Host == "" || r.Host != strings.ToLower(host) || !IsName(owner) || !IsName(name) {
		return "", false
	}
	return owner + "/" + name, true
}

// Repository returns the repository that a clone came from, its origin's, if that is on the GitHub whose pages are on
// that host.
func (g Clone) Repository(host string) (repo string, found bool) {
	return g.Origin.repositoryOn(host)
}

// MayBeOf reports whether a remote of the clone is that repository, or it has none.
func (g Clone) MayBeOf(repo, host string) bool {
	return len(g.remotes) == 0 || slices.ContainsFunc(g.remotes, func(r remote) bool {
		got, found := r.repositoryOn(host)
		return found && strings.EqualFold(got, repo)
	})
}
