package client

// Job logs and artifacts: the API answers with a redirect to a signed URL of some storage. The token has no business
// there, and the URL was chosen by the host that answered: it must not lead into the network that we run in.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// Tail reads a job's log and returns its last tail bytes. A log of more than 50 MB is an error.
func (c *Client) Tail(ctx context.Context, path string, tail int64) ([]byte, error) {
	return c.download(ctx, path, &exchange{tailBytes: tail, fileLimit: maxLog})
}

// Archive reads the ZIP archive of an artifact. One of more than most bytes is an error, [ErrTooLong].
func (c *Client) Archive(ctx context.Context, path string, most int64) ([]byte, error) {
	return c.download(ctx, path, &exchange{tailBytes: most, fileLimit: most})
}

// download reads the end of a file to which the API redirects.
func (c *Client) download(ctx context.Context, path string, k *exchange) ([]byte, error) {
	req, err := c.newRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, exchangeKey{}, k)
	answer, err := c.api.Do(ctx, req, nil)
	if answer == nil || answer.StatusCode != http.StatusFound {
		if err := c.explain(ctx, req, answer, err); err != nil {
			return nil, err
		}
		return bufferBody(answer.Response)
	}
	to, err := answer.Location()
	if err != nil {
		return nil, c.wrapError(req, &fault{what: "a redirect to no URL"})
	}
	away, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), http.NoBody)
	if err != nil {
		return nil, c.wrapError(req, errors.New("a redirect to no URL")) // err would quote a signed URL
	}
	resp, err := (&http.Client{Transport: outside{c}, CheckRedirect: checkHops}).Do(away)
	if err != nil {
		return nil, c.wrapError(req, c.rootCause(ctx, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return nil, c.newAPIError(req, resp)
	}
	return bufferBody(resp)
}

func checkHops(_ *http.Request, via []*http.Request) error {
	if len(via) >= maxHops {
		return fmt.Errorf("more than %d redirects", maxHops)
	}
	return nil
}

// outside is the way to URLs that are not ours to choose. No request there names where it comes from: that may be signed.
type outside struct{ *Client }

func (o outside) RoundTrip(req *http.Request) (*http.Response, error) {
	via, err := o.logTransport(req.Context(), req.URL)
	if err != nil {
		return nil, err
	}
	bare := req.Clone(req.Context())
	bare.Header = http.Header{"User-Agent": {o.agent}}
	return via.RoundTrip(bare)
}

// logTransport chooses how to reach a URL that is not ours to choose. Private addresses are for those whose GitHub has
// one.
func (c *Client) logTransport(ctx context.Context, to *url.URL) (http.RoundTripper, error) {
	switch {
	case to.User != nil, to.Hostname() == "":
		return nil, errors.New("a redirect to a URL that is none of a file")
	case sameHost(to, c.base):
		return c.logs, nil
	case to.Scheme != "https" && (to.Scheme != "http" || !isLoopback(to.Hostname()) || !isLoopback(c.base.Hostname())):
		return nil, fmt.Errorf("a redirect to %s, which is not https, is not followed", c.token.redact(to.Host))
	case privateName(ctx, c.base.Hostname()):
		return c.logs, nil
	}
	if ip, err := netip.ParseAddr(to.Hostname()); err == nil && isPrivate(ip) || to.Hostname() == "localhost" ||
		strings.HasSuffix(to.Hostname(), ".localhost") {
		return nil, fmt.Errorf("a redirect to the private address %s is not followed", c.token.redact(to.Host))
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: to}); err != nil || proxy != nil {
		return c.logs, nil // the proxy dials, and is private itself more often than not
	}
	return c.guarded, nil
}

// privateName says whether an operator's GitHub is in a private network. GitHub's own is not, so that its name need not
// be looked up.
func privateName(ctx context.Context, host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return isPrivate(ip)
	}
	if isLoopback(host) {
		return true
	}
	if host == "api.github.com" || strings.HasSuffix(host, ".ghe.com") {
		return false
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false
	}
	for _, ip := range ips {
		if isPrivate(ip) {
			return true
		}
	}
	return false
}

// refusePrivate stands between name resolution and connect, where a name that changes its address does not help.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || isPrivate(at.Addr()) {
		return errors.New("a private address is not dialed")
	}
	return nil
}

// notPublic are ranges that netip does not call private and that are no place for a log: this network, carrier NAT,
// protocol assignments, benchmarks, documentation, reserved.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001:db8::/32"),
}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func isPrivate(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if nat64.Contains(ip) { // an IPv4 address in disguise
		b := ip.As16()
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, p := range notPublic {
		if p.Contains(ip) {
			return true
		}
	}
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast()
}
