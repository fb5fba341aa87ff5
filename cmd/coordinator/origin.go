package main

// The repository of the clone in which a person stands. It is read from the clone's own files: no git is run, so none
// needs to be there, and no hook or alias of the clone's is.

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// errNoOrigin says that there is no clone, or that it has no remote called origin.
var errNoOrigin = errors.New("there is no clone with a remote called origin")

// originRepo returns the repository that the remote origin of the clone around dir names, if it is on the GitHub whose
// API is at api ("": github.com).
func originRepo(dir, api string) (owner, name string, err error) {
	remote := originURL(dir)
	if remote == "" {
		return "", "", errNoOrigin
	}
	host, path, ok := splitRemote(remote)
	if !ok {
		return "", "", errors.New("the clone's origin is no address of a repository on GitHub")
	}
	site := hostOfSite(api)
	// ssh.github.com takes SSH at the port of HTTPS.
	if h := strings.TrimPrefix(strings.ToLower(host), "ssh."); h != site && h != "www."+site {
		return "", "", fmt.Errorf("the clone's origin is at %s and not at %s", oneLine(host), site)
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if len(parts) != 2 || !repoName.MatchString(parts[0]) || !repoName.MatchString(parts[1]) {
		return "", "", errors.New("the clone's origin is no address of a repository on GitHub")
	}
	return parts[0], parts[1], nil
}

// repoName matches the names that GitHub gives to accounts and repositories.
var repoName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// splitRemote returns the host, without a port, and the path of a remote as git writes it: https://HOST/PATH,
// ssh://git@HOST:PORT/PATH or git@HOST:PATH.
func splitRemote(remote string) (host, path string, ok bool) {
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Hostname() == "" {
			return "", "", false
		}
		return u.Hostname(), u.Path, true
	}
	where, path, ok := strings.Cut(remote, ":")
	if !ok || where == "" || strings.ContainsAny(where, `/\`) || len(where) == 1 { // C:\folder is a place on Windows
		return "", "", false
	}
	return where[strings.LastIndexByte(where, '@')+1:], path, true
}

// hostOfSite returns the host of the website that belongs to an API's address.
func hostOfSite(api string) string {
	u, err := url.Parse(strings.TrimSpace(api))
	if err != nil || u.Hostname() == "" {
		return "github.com"
	}
	host := strings.ToLower(u.Hostname())
	if strings.HasPrefix(host, "api.") && (host == "api.github.com" || strings.HasSuffix(host, ".ghe.com")) {
		return strings.TrimPrefix(host, "api.")
	}
	return host
}

// originURL returns the address of the remote origin of the clone in which dir stands; "" without one.
func originURL(dir string) string {
	dir, err := filepath.Abs(cmp.Or(dir, "."))
	if err != nil {
		return ""
	}
	for {
		if config := configOfClone(filepath.Join(dir, ".git")); config != "" {
			src, err := readFileUpTo(config, 1<<20)
			if err != nil {
				return ""
			}
			return remoteOfConfig(src, "origin")
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// configOfClone returns the path of a clone's config. Of a worktree and of a submodule .git is a file that says where
// the clone's folder is, and a worktree's folder says where the one is that all share.
func configOfClone(git string) string {
	info, err := os.Stat(git)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		text, err := readFileUpTo(git, 8<<10)
		folder, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if err != nil || !ok {
			return ""
		}
		git = absoluteFrom(filepath.Dir(git), folder)
		if common, err := readFileUpTo(filepath.Join(git, "commondir"), 8<<10); err == nil {
			git = absoluteFrom(git, strings.TrimSpace(string(common)))
		}
	}
	config := filepath.Join(git, "config")
	if info, err := os.Stat(config); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return config
}

func absoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// remoteOfConfig returns the first address of a remote in a clone's config. Files that it includes are not read.
func remoteOfConfig(src []byte, remote string) string {
	within := false
	for lines := bufio.NewScanner(bytes.NewReader(src)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section, _, _ := strings.Cut(strings.TrimPrefix(line, "["), "]")
			kind, name, _ := strings.Cut(section, " ")
			within = strings.EqualFold(kind, "remote") && strings.Trim(name, ` "`) == remote
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if within && found && strings.EqualFold(strings.TrimSpace(key), "url") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
