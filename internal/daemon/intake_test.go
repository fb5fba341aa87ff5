package daemon

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1" // the older signature, which must not be enough
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const (
	testSecret = "a secret of the tests, long enough"

	piece      = 32 << 10 // bytes in which bodies are read
	ownPieces  = 2        // of each body; the others come out of a share for all
	largest    = 25 << 20 // bytes that GitHub sends at most
	shareOfAll = 32 << 20 // bytes
)

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// door is an intake that keeps what it received.
type door struct {
	*Intake
	got []Received
	log bytes.Buffer
	now time.Time
	err error
}

func newDoor(secrets ...string) *door {
	d := &door{now: time.Unix(1_700_000_000, 0)}
	if len(secrets) == 0 {
		secrets = []string{testSecret}
	}
	d.Intake = &Intake{
		Secrets: secrets, Metrics: NewMetrics(MetricsOptions{}), Log: slog.New(slog.NewTextHandler(&d.log, nil)), Now: func() time.Time { return d.now },
		Receive: func(_ context.Context, r Received) (string, error) {
			r.Payload = bytes.Clone(r.Payload)
			d.got = append(d.got, r)
			return "accepted", d.err
		},
	}
	return d
}

// post is a delivery as GitHub sends it; change may make it another.
func post(body []byte, change func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodPost, WebhookPath, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", "push")
	r.Header.Set("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	r.Header.Set("X-Hub-Signature-256", sign(testSecret, body))
	if change != nil {
		change(r)
	}
	return r
}

func (d *door) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// drip sends a stranger's body of which n bytes come, and no end until it is told.
func (d *door) drip(t *testing.T, n int) (end func()) {
	t.Helper()
	from, to := io.Pipe()
	r := post(nil, nil)
	r.Body, r.ContentLength = from, largest
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer from.Close() // refused before its end: what else comes is not read
		if w := d.send(r); w.Code < 400 {
			t.Errorf("a stranger's body: %d", w.Code)
		}
	}()
	if _, err := to.Write(make([]byte, n)); err != nil {
		t.Errorf("a stranger's body is not read: %v", err)
	}
	return func() {
		_ = to.CloseWithError(io.ErrUnexpectedEOF)
		<-ended
	}
}

// bodies that together take the whole share, to the last piece
const (
	ofTheShare = largest - 1
	theRest    = shareOfAll + 2*ownPieces*piece - largest - 1
)

// keepsNothing reports whether all memory that bodies share is free.
func (d *door) keepsNothing(t *testing.T) bool {
	t.Helper()
	defer d.drip(t, ofTheShare)()
	return d.send(post(make([]byte, theRest), nil)).Code == http.StatusAccepted
}

func TestADeliveryIsReceivedAndAnswered(t *testing.T) {
	d := newDoor()
	body := []byte(`{"ref":"refs/heads/main"}`)
	w := d.send(post(body, nil))
	if w.Code != http.StatusAccepted || strings.TrimSpace(w.Body.String()) != `{"result":"accepted"}` || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if len(d.got) != 1 || d.got[0].Event != "push" || d.got[0].ID != "72d3162e-cc78-11e3-81ab-4c9367dc0958" || !d.got[0].At.Equal(d.now) ||
		!bytes.Equal(d.got[0].Payload, body) {
		t.Errorf("received %+v", d.got)
	}
	series := scrape(t, d.Metrics)
	if series[`coordinator_webhook_deliveries_total{event="push",result="accepted"}`] != "1" || series["coordinator_webhook_accept_duration_seconds_count"] != "1" {
		t.Error("the delivery was not counted")
	}
}

// Events, actions and fields that nobody knows yet are answered as what is understood is: GitHub counts all else as a
// failure, and is asked for it again.
func TestWhatIsIgnoredIsAcceptedAndCounted(t *testing.T) {
	d := newDoor()
	d.Receive = New(Config{Host: newLand()}).Receive // without a table: there is nothing to keep
	for i, event := range []string{"moon_phase", "ruleset", "pull_request"} {
		w := d.send(post([]byte(`{"Action":"blessed","Concern":1}`), func(r *http.Request) {
			r.Header.Set("X-GitHub-Event", event)
			r.Header.Set("X-GitHub-Delivery", strconv.Itoa(i))
		}))
		if w.Code != http.StatusAccepted || strings.TrimSpace(w.Body.String()) != `{"result":"ignored"}` {
			t.Errorf("%s: %d %s", event, w.Code, w.Body)
		}
	}
	series := scrape(t, d.Metrics)
	for name, want := range map[string]string{
		`event="other",result="ignored"`: "2", `event="pull_request",result="ignored"`: "1",
		`event="other",result="malformed"`: "",
	} {
		if got := series["coordinator_webhook_deliveries_total{"+name+"}"]; got != want {
			t.Errorf("%s deliveries of %s, want %s", got, name, want)
		}
	}
	if d.log.Len() > 0 {
		t.Errorf("the log says %s", &d.log)
	}
}

func TestGitHubsOwnExampleOfASignature(t *testing.T) { // docs.github.com, "Validating webhook deliveries"
	d := newDoor("It's a Secret to Everybody")
	w := d.send(post([]byte("Hello, World!"), func(r *http.Request) {
		r.Header.Set("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
	}))
	if w.Code != http.StatusAccepted {
		t.Errorf("GitHub's example is refused: %d", w.Code)
	}
}

func TestBodiesOfAnyLengthComeWhole(t *testing.T) {
	d := newDoor()
	noise := rand.NewChaCha8([32]byte{1})
	for _, n := range []int{0, 1, piece - 1, piece, piece + 1, ownPieces * piece, ownPieces*piece + 1, 5*piece + 7, largest} {
		for _, told := range []bool{true, false} {
			body := make([]byte, n)
			_, _ = noise.Read(body)
			d.got = nil
			w := d.send(post(body, func(r *http.Request) {
				if !told {
					r.ContentLength = -1
				}
			}))
			if w.Code != http.StatusAccepted || len(d.got) != 1 || !bytes.Equal(d.got[0].Payload, body) {
				t.Errorf("%d bytes, length told: %v: %d", n, told, w.Code)
			}
		}
		if !d.keepsNothing(t) {
			t.Fatalf("%d bytes: memory was not given back", n)
		}
	}
}

func TestWhatIsNoDeliveryIsRefused(t *testing.T) {
	body := []byte(`{"a":1}`)
	sha1Of := func(b []byte) string {
		mac := hmac.New(sha1.New, []byte(testSecret))
		mac.Write(b)
		return "sha1=" + hex.EncodeToString(mac.Sum(nil))
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	const sig = "X-Hub-Signature-256"
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"GET":                   {func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed},
		"PUT":                   {func(r *http.Request) { r.Method = http.MethodPut }, http.StatusMethodNotAllowed},
		"another path":          {func(r *http.Request) { r.URL.Path = "/webhooks" }, http.StatusNotFound},
		"too long":              {func(r *http.Request) { r.ContentLength = largest + 1; r.Body = unreadableBody{t} }, http.StatusRequestEntityTooLarge},
		"unsigned":              {func(r *http.Request) { r.Header.Del(sig); r.Body = unreadableBody{t} }, http.StatusUnauthorized},
		"SHA-1 alone":           {func(r *http.Request) { r.Header.Del(sig); r.Header.Set("X-Hub-Signature", sha1Of(body)) }, http.StatusUnauthorized},
		"SHA-1 in its place":    {header(sig, sha1Of(body)), http.StatusUnauthorized},
		"SHA-1 as SHA-256":      {header(sig, "sha256="+strings.TrimPrefix(sha1Of(body), "sha1=")), http.StatusUnauthorized},
		"no prefix":             {header(sig, strings.TrimPrefix(sign(testSecret, body), "sha256=")), http.StatusUnauthorized},
		"cut":                   {header(sig, sign(testSecret, body)[:70]), http.StatusUnauthorized},
		"longer":                {header(sig, sign(testSecret, body)+"00"), http.StatusUnauthorized},
		"upper case":            {header(sig, "sha256="+strings.ToUpper(sign(testSecret, body)[7:])), http.StatusUnauthorized},
		"no hex":                {header(sig, "sha256="+strings.Repeat("g", 64)), http.StatusUnauthorized},
		"empty":                 {header(sig, ""), http.StatusUnauthorized},
		"two signatures":        {func(r *http.Request) { r.Header.Add(sig, sign(testSecret, body)) }, http.StatusUnauthorized},
		"another secret":        {header(sig, sign("another secret, long enough", body)), http.StatusUnauthorized},
		"the empty secret":      {header(sig, sign("", body)), http.StatusUnauthorized},
		"another body":          {header(sig, sign(testSecret, []byte(`{"a":2}`))), http.StatusUnauthorized},
		"a form":                {header("Content-Type", "application/x-www-form-urlencoded"), http.StatusUnsupportedMediaType},
		"no type":               {func(r *http.Request) { r.Header.Del("Content-Type") }, http.StatusUnsupportedMediaType},
		"no event":              {func(r *http.Request) { r.Header.Del("X-GitHub-Event") }, http.StatusBadRequest},
		"an evil event":         {header("X-GitHub-Event", "push\" onload="), http.StatusBadRequest},
		"a long event":          {header("X-GitHub-Event", strings.Repeat("a", 101)), http.StatusBadRequest},
		"no delivery":           {func(r *http.Request) { r.Header.Del("X-GitHub-Delivery") }, http.StatusBadRequest},
		"an evil delivery":      {header("X-GitHub-Delivery", "a b"), http.StatusBadRequest},
		"a body that ends":      {func(r *http.Request) { r.Body = io.NopCloser(&failing{err: io.ErrUnexpectedEOF}) }, http.StatusBadRequest},
		"a body that is late":   {func(r *http.Request) { r.Body = io.NopCloser(&failing{err: os.ErrDeadlineExceeded}) }, http.StatusRequestTimeout},
		"longer than announced": {func(r *http.Request) { r.ContentLength = -1; r.Body = io.NopCloser(&zeros{largest + 1}) }, http.StatusRequestEntityTooLarge},
	} {
		d := newDoor()
		w := d.send(post(body, c.change))
		if w.Code != c.want || len(d.got) != 0 {
			t.Errorf("%s: %d, want %d; %d received", name, w.Code, c.want, len(d.got))
		}
		if c.want == http.StatusUnauthorized && w.Body.Len() > 0 {
			t.Errorf("%s: a guess is answered with %q", name, w.Body)
		}
		if c.want == http.StatusMethodNotAllowed && w.Header().Get("Allow") != http.MethodPost {
			t.Errorf("%s: it is not said what is allowed", name)
		}
		if c.want == http.StatusUnsupportedMediaType && !strings.Contains(w.Body.String(), "set the webhook's content type to application/json") {
			t.Errorf("%s: no advice in %s", name, w.Body)
		}
		if strings.Contains(d.log.String()+w.Body.String(), testSecret) {
			t.Errorf("%s: the secret is shown", name)
		}
	}
}

// unreadableBody is of a request that must be refused without being read.
type unreadableBody struct{ t *testing.T }

func (u unreadableBody) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}
func (unreadableBody) Close() error { return nil }

// failing breaks off after a few bytes.
type failing struct {
	n   int
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.n++; f.n > 3 {
		return 0, f.err
	}
	return copy(p, "{"), nil
}

// zeros is a body of n bytes.
type zeros struct{ n int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.n)
	z.n -= n
	clear(p[:n])
	return n, nil
}

func TestWithoutASecretNothingIsAccepted(t *testing.T) {
	for _, secrets := range [][]string{{}, {""}, {"short"}} {
		d := newDoor()
		d.Secrets = secrets
		for _, with := range []string{"", "short", testSecret} {
			if w := d.send(post(nil, func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign(with, nil)) })); w.Code != http.StatusUnauthorized {
				t.Errorf("secrets %q, signed with %q: %d", secrets, with, w.Code)
			}
		}
	}
}

func TestEachOfSeveralSecretsIsEnough(t *testing.T) {
	secrets := []string{"the old secret, long enough", "the new secret, long enough", testSecret}
	d := newDoor(secrets...)
	for _, secret := range secrets {
		signed := func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign(secret, []byte("{}"))) }
		if w := d.send(post([]byte("{}"), signed)); w.Code != http.StatusAccepted {
			t.Errorf("%s: %d", secret, w.Code)
		}
	}
}

func TestNothingIsAcceptedUnlessItWasReceived(t *testing.T) {
	d := newDoor()
	d.err = errors.New("the disk is full")
	if w := d.send(post([]byte("{}"), nil)); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "disk") {
		t.Errorf("an error: %d %s", w.Code, w.Body)
	}
	d.err = fmt.Errorf("%w: no pull request in it", ErrMalformed)
	if w := d.send(post([]byte("{}"), nil)); w.Code != http.StatusBadRequest {
		t.Errorf("malformed: %d %s", w.Code, w.Body)
	}
	series := scrape(t, d.Metrics)
	if series[`coordinator_webhook_deliveries_total{event="push",result="failed"}`] != "1" ||
		series[`coordinator_webhook_deliveries_total{event="push",result="malformed"}`] != "1" {
		t.Error("what was not accepted was not counted")
	}
	if !strings.Contains(d.log.String(), "the disk is full") {
		t.Errorf("the operator is not told why: %s", &d.log)
	}
}

func TestWhatCameWholeIsReceivedThoughTheSenderHangsUp(t *testing.T) {
	d := newDoor()
	receive := d.Receive
	d.Receive = func(ctx context.Context, r Received) (string, error) {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		return receive(ctx, r)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	if d.send(post([]byte("{}"), nil).WithContext(ctx)); len(d.got) != 1 || d.log.Len() > 0 {
		t.Errorf("%d received, the log says %q", len(d.got), &d.log)
	}
}

func TestAStopIsNoError(t *testing.T) {
	d := newDoor()
	d.err = fmt.Errorf("receive: %w", ErrDraining)
	if w := d.send(post([]byte("{}"), nil)); w.Code != http.StatusServiceUnavailable || !strings.Contains(d.log.String(), "level=INFO") {
		t.Errorf("%d, the log says %q", w.Code, &d.log)
	}
}

func TestGuessersDoNotFloodTheLog(t *testing.T) {
	d := newDoor()
	guess := func(n int) {
		for range n {
			d.send(post([]byte("{}"), func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign("guess", nil)) }))
		}
	}
	guess(1000)
	d.now = d.now.Add(59 * time.Second)
	guess(1000)
	if n := strings.Count(d.log.String(), "\n"); n != 1 {
		t.Errorf("%d lines within a minute, want 1", n)
	}
	d.now = d.now.Add(time.Second)
	guess(1)
	if n := strings.Count(d.log.String(), "\n"); n != 2 || !strings.Contains(d.log.String(), "count=2000") {
		t.Errorf("after a minute: %s", &d.log)
	}
	if got := scrape(t, d.Metrics)[`coordinator_webhook_deliveries_total{event="other",result="refused"}`]; got != "2001" {
		t.Errorf("%s refused, want 2001", got)
	}
}

// mutate makes another signature of a right one.
func mutate(r *rand.Rand, right string) string {
	b := []byte(right)
	switch r.IntN(8) {
	case 0: // one character is another
		b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
	case 1: // it ends early
		b = b[:r.IntN(len(b))]
	case 2: // it goes on
		b = append(b, "0123456789abcdef"[r.IntN(16)])
	case 3: // one digit is another
		i := len("sha256=") + r.IntN(64)
		b[i] = "0123456789abcdef"[(strings.IndexByte("0123456789abcdef", b[i])+1+r.IntN(15))%16]
	case 4: // all digits are others
		for i := len("sha256="); i < len(b); i++ {
			b[i] = "0123456789abcdef"[r.IntN(16)]
		}
	case 5: // another algorithm is named
		b = append([]byte([]string{"sha1=", "sha512=", "SHA256=", "md5=", "", "=", "sha256", "sha256=sha256=", " sha256="}[r.IntN(9)]), b[len("sha256="):]...)
	case 6: // two characters changed places
		i, j := r.IntN(len(b)), r.IntN(len(b))
		b[i], b[j] = b[j], b[i]
	case 7: // something stands between
		i := r.IntN(len(b))
		b = append(b[:i:i], append([]byte{" \t\x00,;=\xff"[r.IntN(7)]}, b[i:]...)...)
	}
	return string(b)
}

func TestNoneOf100000MutatedSignaturesIsAccepted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	body := []byte(`{"action":"opened","number":7}`)
	right := sign(testSecret, body)
	secrets := []string{testSecret, "the other secret of the rotation"}
	d := newDoor(secrets...)
	accepts := func(body []byte, text string) bool {
		w := d.send(post(body, func(r *http.Request) { r.Header["X-Hub-Signature-256"] = []string{text} }))
		if w.Code != http.StatusAccepted && w.Code != http.StatusUnauthorized {
			t.Errorf("%q: %d", text, w.Code)
		}
		return w.Code == http.StatusAccepted
	}
	if !accepts(body, right) {
		t.Fatal("the right signature is refused")
	}
	accepted, tried := 0, 0
	for tried < 100_000 {
		text, sent := right, bytes.Clone(body)
		if r.IntN(4) > 0 {
			text = mutate(r, right)
		} else {
			sent[r.IntN(len(sent))] ^= byte(1 + r.IntN(255))
		}
		if text == right && bytes.Equal(sent, body) {
			continue // two equal characters changed places
		}
		tried++
		if accepts(sent, text) {
			accepted++
			t.Errorf("accepted: %q", text)
		}
	}
	t.Logf("%d of %d accepted", accepted, tried)
}

func TestSecretsAreRead(t *testing.T) {
	got, err := ParseSecrets(" 0123456789abcdef ,second secret of ours\n")
	if err != nil || len(got) != 2 || got[0] != "0123456789abcdef" || got[1] != "second secret of ours" {
		t.Errorf("%q %v", got, err)
	}
	for text, want := range map[string]string{
		"":                              "secret 1 of 1 has 0 bytes",
		"0123456789abcdef,":             "secret 2 of 2 has 0 bytes",
		"0123456789abcdef,hunter2":      "secret 2 of 2 has 7 bytes",
		"               x             ": "secret 1 of 1 has 1 bytes",
		strings.Repeat("0123456789abcdef,", 8) + "0123456789abcdef": "there are 9 of them, at most 8",
	} {
		_, err := ParseSecrets(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestLargeBodiesWaitForEachOther(t *testing.T) {
	d := newDoor()
	one, other := d.drip(t, ofTheShare), d.drip(t, theRest)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody waits in this test
	large, small := make([]byte, ownPieces*piece+1), make([]byte, piece)
	if w := d.send(post(large, nil).WithContext(ctx)); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a large body without memory: %d", w.Code)
	}
	if w := d.send(post(small, nil).WithContext(ctx)); w.Code != http.StatusAccepted {
		t.Errorf("a small body when large ones have all memory: %d", w.Code)
	}
	one()
	other()
	if w := d.send(post(large, nil)); w.Code != http.StatusAccepted {
		t.Errorf("a large body afterwards: %d", w.Code)
	}
}

// Strangers who announce large bodies and let them drip hold what has come of them, and no more: what is signed comes
// in.
func TestDrippingBodiesHoldUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor()
		var ends []func()
		for range 2 {
			ends = append(ends, d.drip(t, ownPieces*piece+1))
		}
		synctest.Wait()
		began := time.Now()
		if w := d.send(post(bytes.Repeat([]byte("x"), 100<<10), nil)); w.Code != http.StatusAccepted || time.Since(began) > 0 {
			t.Errorf("a signed delivery of 100 KB: %d after %s", w.Code, time.Since(began))
		}
		for _, end := range ends {
			end()
		}
		if !d.keepsNothing(t) {
			t.Error("memory was not given back")
		}
	})
}

// Bodies that hold what others wait for do not wait for ever.
func TestBodiesThatWaitForEachOtherEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor()
		d.Receive = func(context.Context, Received) (string, error) { return "accepted", nil }
		large := make([]byte, 24<<20)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				r := post(large, nil)
				r.Body = io.NopCloser(yielding{bytes.NewReader(large)})
				d.send(r)
			})
		}
		began := time.Now()
		all.Wait()
		if took := time.Since(began); took > 9*time.Second {
			t.Errorf("they took %s", took)
		}
		if w := d.send(post(large, nil)); w.Code != http.StatusAccepted || !d.keepsNothing(t) {
			t.Errorf("a large body afterwards: %d", w.Code)
		}
	})
}

// A body that comes slowly has as much patience left as one that came at once: only what it waits for others counts.
func TestASlowBodyMayWaitForOthersToo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ comes, waits time.Duration }{{0, 0}, {0, 2}, {0, 4}, {5, 0}, {5, 2}, {5, 4}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDoor()
			one, other := d.drip(t, ofTheShare), d.drip(t, theRest)
			body := make([]byte, ownPieces*piece+1)
			slow, full := io.Pipe()
			go func() {
				_, _ = full.Write(body[2:])
				<-time.After(c.comes * time.Second)
				_, _ = full.Write(body[:2])
				_ = full.Close()
			}()
			time.AfterFunc((c.comes+c.waits)*time.Second, other)
			want := http.StatusAccepted
			if c.waits > 3 {
				want = http.StatusServiceUnavailable
			}
			r := post(body, nil)
			r.Body = slow
			if w := d.send(r); w.Code != want {
				t.Errorf("it came within %d s and waited for %d s: %d, want %d", c.comes, c.waits, w.Code, want)
			}
			_ = slow.Close()
			one()
			settle(5 * time.Second)
		})
	}
}

// yielding is read a little at a time, while others are read.
type yielding struct{ io.Reader }

func (y yielding) Read(p []byte) (int, error) {
	<-time.After(time.Millisecond)
	return y.Reader.Read(p)
}

var fullBodies = flag.Bool("bodies", false, "send 100 bodies of 200 MB at once, on Linux, and measure the memory that it takes")

// Callers without the secret send large bodies, all at once: as a signature that is none is refused unread, each has
// one of the right shape, and does not say how long its body is.
func TestBodiesOfStrangersCostLittleMemory(t *testing.T) {
	if build, ok := debug.ReadBuildInfo(); ok && slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector keeps memory of its own, and has pools lose some")
	}
	callers, size, most := 48, 4<<20, uint64(64<<20)
	if *fullBodies {
		callers, size = 100, 200<<20
	}
	d := newDoor()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(d, nil, nil)
	server.ReadTimeout = time.Hour
	go server.Serve(l)
	defer server.Close()
	debug.FreeOSMemory()
	before, _ := memory(t, true)
	chunk := make([]byte, 32<<10)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			fmt.Fprintf(
				c,
				"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Hub-Signature-256: sha256=%064d\r\nTransfer-Encoding: chunked\r\n\r\n",
				0,
			)
			for sent := 0; sent < size; sent += len(chunk) {
				if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(chunk), chunk); err != nil {
					return // refused in the middle
				}
			}
			fmt.Fprint(c, "0\r\n\r\n")
			if r, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && r.StatusCode < 400 {
				t.Errorf("a stranger's body: %s", r.Status)
			}
		})
	}
	all.Wait()
	_, peak := memory(t, false)
	t.Logf("%d bodies of %d MB: memory rose from %d MB to %d MB at its peak", callers, size>>20, before>>20, peak>>20)
	if peak > before+most {
		t.Errorf("memory rose by %d MB, want at most %d", (peak-before)>>20, most>>20)
	}
	server.Close()
	if len(d.got) > 0 || !d.keepsNothing(t) {
		t.Error("something was received, or memory was not given back")
	}
}

// memory is the process's memory now and at its peak since the last reset: as Linux counts it, elsewhere as Go does.
func memory(t *testing.T, reset bool) (now, peak uint64) {
	t.Helper()
	if reset {
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys - m.HeapReleased, m.Sys - m.HeapReleased
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kb << 10
		case "VmHWM":
			peak = kb << 10
		}
	}
	return now, peak
}

func FuzzIntake(f *testing.F) {
	f.Add("POST", "/webhook", sign(testSecret, []byte("{}")), "application/json", "push", "1", []byte("{}"), int64(2))
	f.Add("POST", "/webhook", sign(testSecret, nil), "application/json; charset=utf-8", "ping", "72d3162e-cc78-11e3-81ab-4c9367dc0958", []byte{}, int64(-1))
	f.Add("GET", "/", "sha1=00", "text/plain", "", "", []byte("payload=%7B%7D"), int64(1<<40))
	d := newDoor()
	f.Fuzz(func(t *testing.T, method, path, sig, kind, event, id string, body []byte, length int64) {
		d.log.Reset()
		for _, text := range []string{sig, sign(testSecret, body)} {
			r := (&http.Request{
				Method: method, URL: &url.URL{Path: path}, Body: io.NopCloser(bytes.NewReader(body)),
				ContentLength: length, Host: "x", RemoteAddr: "192.0.2.1:1",
				Header: http.Header{"X-Hub-Signature-256": {text}, "Content-Type": {kind}, "X-Github-Event": {event}, "X-Github-Delivery": {id}},
			}).WithContext(t.Context())
			d.got = nil
			w := d.send(r)
			right := text == sign(testSecret, body)
			if w.Code < 300 && (!right || method != http.MethodPost || path != WebhookPath || len(d.got) != 1) || !right && len(d.got) > 0 {
				t.Errorf("%s %q signed %q: %d, %d received", method, path, text, w.Code, len(d.got))
			}
			if strings.Contains(w.Body.String()+d.log.String(), testSecret) {
				t.Error("the secret is shown")
			}
		}
	})
}

func BenchmarkIntake(b *testing.B) {
	d := newDoor()
	d.Receive = func(context.Context, Received) (string, error) { return "accepted", nil }
	body := bytes.Repeat([]byte("x"), 20<<10)
	sig := sign(testSecret, body)
	b.ReportAllocs()
	for b.Loop() {
		d.ServeHTTP(httptest.NewRecorder(), post(body, func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sig) }))
	}
}
