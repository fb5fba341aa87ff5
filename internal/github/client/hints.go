package client

// What helps where GitHub was not reached, or not GitHub's API: one piece of advice each, for a person at a terminal.

import (
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
)

// HintOf returns one piece of advice for an error of this package; "" if there is none.
func HintOf(err error) string {
	var api *APIError
	var lost *fault
	var limit *LimitError
	switch {
	case errors.As(err, &api):
		return api.Hint()
	case errors.As(err, &lost):
		return lost.hint
	case errors.As(err, &limit):
		return "it ends by itself at that time; another token, or a GitHub App's installation, has a budget of its own"
	}
	return ""
}

const silenceHint = "a firewall may drop what is sent; where a proxy leads out, HTTPS_PROXY names it"

// networkHint returns what helps against an error of the network.
func networkHint(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	switch isOp := errors.As(err, &op); {
	case isOp && op.Op == "proxyconnect", strings.Contains(err.Error(), "Proxy Authentication Required"):
		return "the proxy that HTTPS_PROXY names does not let us through: is it right, with its user and password, and does NO_PROXY name what needs none?"
	case errors.As(err, &name):
		return "the name " + untrusted.OneLine(name.Name, maxMessage) + " is not known here: is there a network, and is GITHUB_API_URL right?"
	case errors.As(err, &certificate):
		return "its certificate is not trusted here: SSL_CERT_FILE names a file with that of a server's or a proxy's own authority"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing takes requests at that address: is GITHUB_API_URL right, and does no firewall stand between?"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no way to that address: is there a network?"
	case errors.Is(err, os.ErrDeadlineExceeded), isOp && op.Timeout():
		return silenceHint
	}
	return ""
}

// addressHint returns what to say of the API's address where something else answered at it.
func addressHint(base *url.URL) string {
	switch host := strings.ToLower(base.Hostname()); {
	case host == "github.com" || host == "www.github.com":
		return "GITHUB_API_URL is GitHub's website: unset it, for the API is https://api.github.com"
	case strings.HasPrefix(host, "api.") || strings.HasSuffix(base.Path, "/api/v3/"):
		return "something else answered: a proxy's page, or a server that is no GitHub"
	case strings.HasSuffix(host, ".ghe.com"):
		return "GITHUB_API_URL is GitHub's website: the API is https://api." + host
	}
	return "is that the API? Of a GitHub Enterprise Server, GITHUB_API_URL is " + base.Scheme + "://" + base.Host + "/api/v3"
}

// signOnAddress returns the address of an X-GitHub-SSO header, if it is on the website of the API at base: a person
// will open it.
func signOnAddress(header string, base *url.URL) string {
	_, text, found := strings.Cut(header, "required; url=")
	if !found || len(text) > 500 {
		return ""
	}
	to, err := url.Parse(strings.TrimSpace(text))
	if err != nil || to.Scheme != base.Scheme || to.User != nil {
		return ""
	}
	api := strings.ToLower(base.Host)
	if host := strings.ToLower(to.Host); host != api && host != strings.TrimPrefix(api, "api.") {
		return ""
	}
	return to.String()
}
