package main

// Where a check leads: GitHub's website, the docs of this very version, and the dashboard.

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A githubSite is one GitHub as people and as programs reach it.
type githubSite struct{ webURL, apiURL string }

// siteOfAPI returns the website that belongs to an API's address, and that address.
func siteOfAPI(api string) githubSite {
	api = strings.TrimRight(strings.TrimSpace(api), "/")
	site := githubSite{webURL: client.WebAddress(api), apiURL: api}
	if site.webURL == "https://github.com" {
		site.apiURL = "https://api.github.com"
	}
	return site
}

// placesOf returns where checks lead that are written through an API.
func placesOf(api string) report.Places {
	return report.Places{Web: siteOfAPI(api).webURL, Docs: docsOf(buildVersion())}
}

var (
	releaseVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)[0-9A-Za-z.]*)?$`)
	commitVersion  = regexp.MustCompile(`^devel-([0-9a-f]{12,40})$`)
)

// docsOf returns the folder of a version's docs. A build that is no release's, and not of a known commit, has the newest.
func docsOf(version string) string {
	ref := "main"
	if m := commitVersion.FindStringSubmatch(version); m != nil {
		ref = m[1]
	} else if releaseVersion.MatchString(version) {
		ref = version
	}
	return "https://github.com/review-coordinator/coordinator/blob/" + ref + "/docs"
}

// parsePublicURL returns the dashboard's address, which a flag or a variable holds, as checks link it, without a slash at
// its end; "" if there is none. Whoever reads a check is sent there, so it must be https, unless it is this machine's own.
func parsePublicURL(from, address string) (string, error) {
	const hint = "write it as https://HOST or https://HOST/PATH, as a browser reaches the dashboard"
	if address == "" {
		return "", nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return "", usageError(errors.New(from+" is no address"), hint) // not quoted: it may hold a password
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", usageError(errors.New(from+" has more than a host and a path"), hint)
	case u.Scheme == "http" && isLoopback(u.Hostname()), u.Scheme == "https":
	default:
		return "", usageError(errors.New(from+" is not https"), hint+"; http is for this machine's own address only")
	}
	if strings.ContainsAny(u.Path, " ()<>\"'`[]\\%") {
		return "", usageError(errors.New(from+" has a path that no link can hold"), hint)
	}
	return strings.TrimRight(u.Scheme+"://"+u.Host+u.Path, "/"), nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
