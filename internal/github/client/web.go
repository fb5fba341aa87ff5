package client

// Where people see the GitHub whose API the programs use.

import (
	"net/url"
	"strings"
)

// WebAddress returns where the pages of the GitHub are whose API is at that address: a GitHub Enterprise Server has its
// API at /api/v3, ghe.com at api.NAME. What is no address is taken for github.com's.
func WebAddress(api string) string {
	u, err := url.Parse(api)
	if err != nil || u.Host == "" || u.Host == "api.github.com" {
		return "https://github.com"
	}
	host := u.Host
	if rest, found := strings.CutPrefix(host, "api."); found && strings.HasSuffix(host, ".ghe.com") {
		host = rest
	}
	return u.Scheme + "://" + host
}
