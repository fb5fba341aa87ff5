// Package clone finds the clone of Git's that a folder is in, and the repositories on GitHub that it came from.
//
// It promises to read its files only, without git, and never to show an address, which may hold a secret.
package clone

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/review-coordinator/coordinator/internal/lazy"
)

// A Clone is a working folder of Git's.
type Clone struct {
	Root    string
	remotes []remote // as the configuration lists them
}

// A remote is a remote of a clone. Its address may hold a secret: it is not shown.
type remote struct{ name, address string }

// Find returns the clone that a folder is in; found is false if it is in none.
func Find(dir string) (clone Clone, found bool, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return clone, false, fmt.Errorf("find the clone: %w", err)
	}
	for {
		if info, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			clone.Root = dir
			clone.remotes, err = readRemotes(filepath.Join(dir, ".git"), info.IsDir())
			return clone, true, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return clone, false, nil
		}
		dir = parent
	}
}

// readRemotes reads the remotes of a clone. In a second working folder, or a submodule, .git is a file that names the
// folder, and that one may name another that all working folders share.
func readRemotes(git string, isDir bool) ([]remote, error) {
	if !isDir {
		line, err := readShortFile(git)
		if err != nil {
			return nil, err
		}
		target, is := strings.CutPrefix(strings.TrimSpace(line), "gitdir:")
		if !is {
			return nil, fmt.Errorf("%s names no folder of Git's", git)
		}
		git = joinFrom(filepath.Dir(git), strings.TrimSpace(target))
		if shared, err := readShortFile(filepath.Join(git, "commondir")); err == nil {
			git = joinFrom(git, strings.TrimSpace(shared))
		}
	}
	config, err := readShortFile(filepath.Join(git, "config"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return parseRemotes(config), err
}

// joinFrom returns a path that is written from a folder on.
func joinFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readShortFile reads a file of Git's, of at most 1 MiB.
func readShortFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(text), errors.Join(err, f.Close())
}

var (
	remoteSection = lazy.Regexp(`^\[\s*(?i:remote)\s+"((?:[^"\\]|\\.)*)"\s*\]`)
	anySection    = lazy.Regexp(`^\[[^\]]*\]`)
	urlKey        = lazy.Regexp(`^(?i:url)\s*=\s*(.*)$`)
)

// parseRemotes reads the remotes of Git's configuration.
func parseRemotes(config string) (remotes []remote) {
	section := ""
	lines := bufio.NewScanner(strings.NewReader(config))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if head := anySection().FindString(line); head != "" {
			section = ""
			if m := remoteSection().FindStringSubmatch(line); m != nil {
				section, head = m[1], m[0]
			}
			line = strings.TrimSpace(strings.TrimPrefix(line, head))
		}
		m := urlKey().FindStringSubmatch(line)
		if section == "" || m == nil {
			continue
		}
		value := m[1]
		quoted, rest, ends := strings.Cut(strings.TrimPrefix(value, `"`), `"`)
		if strings.HasPrefix(value, `"`) && ends && !strings.Contains(quoted, `\`) {
			value = quoted + rest
		} else if i := strings.IndexAny(value, "#;"); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		remotes = append(remotes, remote{section, value})
	}
	return remotes
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
