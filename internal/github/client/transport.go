package client

// One attempt at GitHub, whole or not at all: the layer nearest to the wire reads each answer to its end and hands it
// up only if it is what GitHub would say. So no layer above, the conditional cache included, ever sees half an answer.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	attemptTimeout = 30 * time.Second // of one attempt, from its first byte to the last of the answer
	maxAnswer      = 32 << 20         // bytes of one JSON answer
	maxPage        = 8 << 20          // bytes of one that can be asked for in smaller pages
	maxLog         = 50 << 20         // bytes read of one job's log
	maxHeader      = 1 << 20          // bytes of an answer's header
)

// newTransport is an http.Transport with a limit to each thing it can wait for.
func newTransport(dialer *net.Dialer, idle int) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  12 * time.Second, // GitHub ends what takes it longer than ten
		MaxResponseHeaderBytes: maxHeader,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           idle,
		MaxIdleConnsPerHost:    (idle + 1) / 2,
	}
}

// An exchange is what the layers know of a request beyond HTTP. It travels in the request's context; one goroutine has
// it.
type exchange struct {
	graphql    bool
	tailBytes  int64           // a file is wanted, and this many of its last bytes; 0: JSON
	fileLimit  int64           // a file of more bytes is an error
	repeatable bool            // whatever its method
	isPage     bool            // it can be asked for in smaller pages
	isPassing  bool            // its answer is not worth its place in the cache
	response   graphqlResponse // the newest attempt's, where graphql
}

type exchangeKey struct{}

func exchangeOf(req *http.Request) *exchange {
	if c, ok := req.Context().Value(exchangeKey{}).(*exchange); ok {
		return c
	}
	return &exchange{}
}

// isRepeatable says that GitHub's state is the same however often req is carried out.
func isRepeatable(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead || exchangeOf(req).repeatable
}

// wholeReader sends one attempt and returns an answer that can be relied on, its body in memory; or a *fault, or the
// error of the caller's own context.
type wholeReader struct {
	next     http.RoundTripper
	now      func() time.Time
	token    secret
	log      *slog.Logger
	stats    *stats // nil where the host is not GitHub's API
	observed Observer
}

func (w *wholeReader) RoundTrip(req *http.Request) (*http.Response, error) {
	c := exchangeOf(req)
	if !isRepeatable(req) {
		if err := MayWrite(req.Context()); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(req.Context(), attemptTimeout)
	defer cancel()
	began, sent := time.Now(), w.now()
	resp, err := w.next.RoundTrip(req.WithContext(ctx))
	w.stats.countRequest(req, c)
	if err != nil {
		return nil, w.lostAttempt(ctx, req, began, err)
	}
	defer resp.Body.Close()
	body, err := readAnswer(resp, c)
	switch {
	case errors.Is(err, ErrTooLong):
		w.tellObserver(req, resp.StatusCode, began)
		return nil, fmt.Errorf("read answer: %w", err) // no fault: it will be as long the next time
	case err != nil:
		return nil, w.lostAttempt(ctx, req, began, fmt.Errorf("answer cut off: %w", err))
	}
	received := w.now()
	if w.log.Enabled(ctx, slog.LevelDebug) {
		w.log.Debug("GitHub answered",
			"method", req.Method, "path", w.loggedPath(req), "status", resp.StatusCode, "took", received.Sub(sent))
	}
	w.tellObserver(req, resp.StatusCode, began)
	if resp.StatusCode != http.StatusNotModified && resp.StatusCode < 500 {
		countInMeter(ctx)
	}
	w.stats.learnResponse(resp, sent, received)
	if err := w.checkResponse(req, c, resp, body); err != nil {
		return nil, err
	}
	resp.Header.Set(fromCache, "no")
	if resp.StatusCode == http.StatusNotModified {
		resp.Header.Set(fromCache, isUnchanged)
	}
	resp.Body, resp.ContentLength, resp.Request = bodyOf(body), int64(len(body)), req
	if c.tailBytes > 0 || c.isPassing {
		resp.Header.Del("Etag") // it is not worth its place in the cache
	}
	return resp, nil
}

// tellObserver tells of an attempt at GitHub's API. Time is the machine's, whatever the caller's clock says.
func (w *wholeReader) tellObserver(req *http.Request, status int, began time.Time) {
	if w.observed != nil {
		w.observed(endpointOf(req), status, time.Since(began))
	}
}

// loggedPath is what a log may say of a request's URL. One outside the API is signed, so that it alone lets one read.
func (w *wholeReader) loggedPath(req *http.Request) string {
	if w.stats == nil {
		return "(a log)"
	}
	return w.token.redact(req.URL.Path)
}

// checkResponse says why an answer cannot be relied on. What GitHub refuses (4xx) is an answer; a fault
// of its own (500, 502, 503 …) is none, see ErrTransport.
func (w *wholeReader) checkResponse(req *http.Request, c *exchange, resp *http.Response, body []byte) error {
	status := resp.StatusCode
	switch {
	case status >= 500:
		return &fault{
			silent: true,
			what:   w.token.redact(fmt.Sprintf("%d %s %s", status, http.StatusText(status), errorMessage(body))),
			wait:   parseSeconds(resp.Header.Get("Retry-After")),
		}
	case status == http.StatusNotModified && req.Header.Get("If-None-Match") == "":
		return &fault{what: "304 to a request without a condition"}
	case status < 200 || status > 299 || c.tailBytes > 0 || status == http.StatusNoContent:
		return nil
	case len(body) == 0 && !isRepeatable(req):
		return nil // a rerun is answered with 201 and nothing
	case len(body) < 16 && bytes.Equal(bytes.TrimSpace(body), []byte("null")):
		return &fault{what: "answer is null"} // it would decode to an empty list
	case c.graphql:
		return c.readGraphQL(body)
	}
	if !json.Valid(body) {
		return errNoJSON()
	}
	return nil
}

// noJSON is what a fault says of an answer that is none of the API's.
const noJSON = "answer is no JSON"

func errNoJSON() error { return &fault{what: noJSON} }

// fromCache is a header by which go-github keeps no limits of its own, whatever its value: it would go by another clock
// than we do, and without a reserve. isUnchanged is its value where GitHub answered 304.
const (
	fromCache   = "X-From-Cache"
	isUnchanged = "304"
)

// lostAttempt turns a failed attempt into a fault, unless the caller ended it.
func (w *wholeReader) lostAttempt(attempt context.Context, req *http.Request, began time.Time, err error) error {
	if own := req.Context().Err(); own != nil {
		return own
	}
	w.tellObserver(req, 0, began)
	if attempt.Err() != nil {
		return &fault{silent: true, what: "no answer within " + attemptTimeout.String(), hint: silenceHint}
	}
	var op *net.OpError
	return &fault{silent: true, what: w.token.redact(err.Error()), unsent: errors.As(err, &op) && op.Op == "dial", hint: networkHint(err)}
}

// readAnswer reads a body to its end. Of a text only the wanted end is kept; a refusal is read from its beginning.
func readAnswer(resp *http.Response, c *exchange) ([]byte, error) {
	if c.tailBytes > 0 && resp.StatusCode == http.StatusOK {
		return readTail(resp.Body, c.tailBytes, c.fileLimit)
	}
	most := int64(maxAnswer)
	if c.isPage {
		most = maxPage
	}
	if resp.ContentLength > most {
		return nil, ErrTooLong
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if int64(len(body)) > most {
		return nil, ErrTooLong
	}
	return body, err
}

// readTail reads r to its end and returns its last keep bytes; an r of more than limit bytes is an error, because its
// end was not seen.
func readTail(r io.Reader, keep, limit int64) ([]byte, error) {
	var tail []byte
	var total int64
	chunk := make([]byte, 32<<10)
	for {
		n, err := r.Read(chunk)
		total += int64(n)
		if total > limit {
			return nil, ErrTooLong
		}
		tail = append(tail, chunk[:n]...)
		if int64(len(tail)) > 2*keep { // drop what is not needed now and then, not at each read
			tail = append(tail[:0], tail[int64(len(tail))-keep:]...)
		}
		switch {
		case err == io.EOF:
			return tail[max(0, int64(len(tail))-keep):], nil
		case err != nil:
			return nil, err
		}
	}
}

// parseSeconds reads a Retry-After that is a number.
func parseSeconds(header string) time.Duration {
	n, err := strconv.Atoi(strings.TrimSpace(header))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 1<<20)) * time.Second
}

// stats counts requests and measures the offset of GitHub's clock. A nil *stats counts nothing.
type stats struct {
	mu      sync.Mutex
	counts  Counts
	skew    time.Duration
	budgets map[string]Budget // by X-RateLimit-Resource
}

func (s *stats) countRequest(req *http.Request, c *exchange) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Sent++
	if c.graphql {
		s.counts.GraphQL++
	}
	if s.counts.Methods == nil {
		s.counts.Methods = make(map[string]int)
	}
	s.counts.Methods[req.Method]++
}

// maxSkew is what GitHub's clock may differ from ours without a word.
const maxSkew = 2 * time.Second

// clockOffset is [Client.Skew].
func (s *stats) clockOffset() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.skew
}

// learnResponse learns from an answer's Date. It was stamped, in whole seconds, at some time between sent and received:
// only an offset that no such time explains is one.
func (s *stats) learnResponse(resp *http.Response, sent, received time.Time) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if resp.StatusCode == http.StatusNotModified {
		s.counts.NotModified++
	}
	s.learnBudget(resp.Header)
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return
	}
	least, most := date.Sub(received), date.Add(time.Second).Sub(sent)
	switch {
	case s.skew != 0 && least <= s.skew && s.skew <= most: // still explains it: the same offset each time, not a new one
	case least > maxSkew, most < -maxSkew:
		s.skew = (least + most) / 2
	default:
		s.skew = 0
	}
}
