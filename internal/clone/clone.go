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
	"strings"
	"time"
)

// A Clone is a working folder of Git's.
type Clone struct {
	Root    string
	remotes []remote // by name
}

// A remote is a remote of a clone. Its address may hold a secret: it is not shown.
type remote struct{ name, address string }

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
			clone.remotes = append(clone.remotes, remote{name, rest[:i]})
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

// repositoryOn returns what a remote's address names on the GitHub whose pages are on that host; named is false if it
// names nothing there.
func (r remote) repositoryOn(host string) (repo string, named bool) {
	at, path := "", ""
	if u, err := url.Parse(r.address); err == nil && strings.Contains(r.address, "://") {
		at, path = u.Host, u.Path
		if strings.Contains(u.Scheme, "ssh") || u.Scheme == "git" {
			at, host = u.Hostname(), withoutPort(host) // the port is another service's
		}
	} else if user, rest, isShort := strings.Cut(r.address, ":"); isShort && !strings.Contains(user, "/") {
		at, path, host = user[strings.LastIndex(user, "@")+1:], rest, withoutPort(host)
	}
	at = strings.ToLower(at)
	if at == "ssh.github.com" || at == "www.github.com" {
		at = "github.com"
	}
	owner, name, _ := strings.Cut(strings.Trim(path, "/"), "/")
	name = strings.TrimSuffix(name, ".git")
	if at == "" || at != strings.ToLower(host) || !IsName(owner) || !IsName(name) {
		return "", false
	}
	return owner + "/" + name, true
}

func withoutPort(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return name
}

// Repository returns the repository that a clone came from, its origin's, if that is on the GitHub whose pages are on
// that host.
func (g Clone) Repository(host string) (repo string, found bool) {
	for _, r := range g.remotes {
		if r.name == "origin" {
			return r.repositoryOn(host)
		}
	}
	return "", false
}

// HasRemotes reports whether a clone came from anywhere.
func (g Clone) HasRemotes() bool { return len(g.remotes) > 0 }

// IsOf reports whether a remote of the clone is that repository.
func (g Clone) IsOf(repo, host string) bool {
	for _, r := range g.remotes {
		if got, found := r.repositoryOn(host); found && strings.EqualFold(got, repo) {
			return true
		}
	}
	return false
}
