package main

// Where a check leads: GitHub's website, the docs of this very version, and the dashboard.

import (
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/lazy"
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
	releaseVersion = lazy.Regexp(`^v\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)[0-9A-Za-z.]*)?$`)
	commitVersion  = lazy.Regexp(`^devel-([0-9a-f]{12,40})$`)
)

// docsOf returns the folder of a version's docs. A build of no release and no known commit has the newest.
func docsOf(version string) string {
	ref := "main"
	if m := commitVersion().FindStringSubmatch(version); m != nil {
		ref = m[1]
	} else if releaseVersion().MatchString(version) {
		ref = version
	}
	return "https://github.com/review-coordinator/coordinator/blob/" + ref + "/docs"
}
