package daemon

// The webhook's door. It stands open to the world: nothing that a caller without the secret sends is parsed, logged
// word by word, kept, or answered with more than a status; and all such callers together cannot make us hold more than
// a bound.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
)

// WebhookPath is where GitHub sends to.
const WebhookPath = "/webhook"

const (
	pieceSize       = 32 << 10        // of which a body is read; nearly all fit into one
	freePieces      = 2               // of each body: at most 64 KB for each connection
	maxSharedBytes  = 32 << 20        // of all bodies together beyond those, so that the largest fits in
	sharedTimeout   = 3 * time.Second // for all of a body's shares: then 503, before GitHub's 10 seconds are over
	acceptTimeout   = 9 * time.Second // GitHub counts what takes 10 seconds as failed
	linePause       = time.Minute     // between two lines about what anybody can cause
	maxHeaderID     = 100             // characters of a delivery's or an event's name
	minSecret       = 16              // bytes
	maxSecrets      = 8               // each costs a hash of every body
	signaturePrefix = "sha256="       // the older sha1= is never enough
	jsonType        = "application/json"
)

// Received is a delivery whose signature was right. Everything in it is still hostile: who may write to a repository
// may choose what is in its events.
type Received struct {
	ID      string // X-GitHub-Delivery
	Event   string // X-GitHub-Event
	Payload []byte // valid until Receive returns
	At      time.Time
}

// Intake answers POST /webhook. It answers 202 only after Receive returned without an error.
type Intake struct {
	Secrets []string // see [ParseSecrets]; without one, nothing is accepted
	Receive func(ctx context.Context, d Received) (result string, err error)
	Metrics *Metrics         // nil: nothing is counted
	Log     *slog.Logger     // nil: nothing is logged
	Now     func() time.Time // nil: time.Now

	once          sync.Once
	sharedBytes   *semaphore.Weighted
	piecePool     sync.Pool // of *[pieceSize]byte
	refusedLines  quietLine
	failedLines   quietLine
	drainingLines quietLine
}

// ParseSecrets reads secrets that are separated by commas. More than one are for rotation: each of them is enough.
func ParseSecrets(text string) ([]string, error) {
	parts := strings.Split(text, ",")
	if len(parts) > maxSecrets {
		return nil, fmt.Errorf("read webhook secrets: there are %d of them, at most %d are allowed", len(parts), maxSecrets)
	}
	secrets := make([]string, len(parts))
	for i, part := range parts {
		secrets[i] = strings.TrimSpace(part)
		if n := len(secrets[i]); n < minSecret {
			return nil, fmt.Errorf(
				"read webhook secrets: secret %d of %d has %d bytes, at least %d are needed",
				i+1,
				len(parts),
				n,
				minSecret,
			)
		}
	}
	return secrets, nil
}

func (in *Intake) fillDefaults() {
	in.sharedBytes = semaphore.NewWeighted(maxSharedBytes)
	in.piecePool.New = func() any { return new([pieceSize]byte) }
	in.Log = orDiscard(in.Log)
	if in.Now == nil {
		in.Now = time.Now
	}
	if in.Metrics == nil {
		in.Metrics = NewMetrics(MetricsOptions{})
	}
}

// refusal is an answer that accepts nothing.
type refusal struct {
	status int
	result string // for the metric
	say    string // for the caller; "": the status says it
	hint   string
	err    error // for the log
}

func (r *refusal) Error() string { return cmp.Or(r.say, http.StatusText(r.status)) }
func (r *refusal) Unwrap() error { return r.err }

// ServeHTTP implements [http.Handler].
func (in *Intake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in.once.Do(in.fillDefaults)
	event, result, err := in.acceptRequest(w, r)
	if err == nil {
		in.Metrics.Delivered(event, result)
		dashboard.WriteJSON(w, http.StatusAccepted, intakeAnswer{Result: result})
		return
	}
	no := &refusal{status: http.StatusServiceUnavailable, result: deliveryFailed, say: "the delivery was not accepted"}
	errors.As(err, &no)
	in.Metrics.Delivered(event, no.result)
	switch no.status {
	case http.StatusUnauthorized: // no detail: whoever guesses learns nothing
		w.WriteHeader(no.status)
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
		dashboard.WriteJSON(w, no.status, dashboard.ErrorAnswer{Error: no.Error(), Hint: no.hint})
	default:
		dashboard.WriteJSON(w, no.status, dashboard.ErrorAnswer{Error: no.Error(), Hint: no.hint})
	}
	in.logRefusal(r, no, err)
}

type intakeAnswer struct {
	Result string `json:"result"`
}

// logRefusal logs what was not accepted: what anybody can cause at most once a minute, with how often it was.
func (in *Intake) logRefusal(r *http.Request, no *refusal, err error) {
	line, level, text := &in.refusedLines, slog.LevelWarn, "webhook requests were refused"
	switch {
	case errors.Is(err, ErrDraining):
		line, level, text = &in.drainingLines, slog.LevelInfo, "webhook deliveries were not accepted while stopping: the resync asks GitHub for them again"
	case no.result == deliveryFailed:
		line, level, text = &in.failedLines, slog.LevelError, "webhook deliveries were not accepted: the resync asks GitHub for them again"
	}
	if n, say := line.countLine(in.Now()); say {
		in.Log.LogAttrs(r.Context(), level, text, slog.Int("count", n), slog.Int("status", no.status),
			slog.String("err", quoteBounded(err.Error())), slog.String("from", r.RemoteAddr), deliveryOf(r, no))
	}
}

// deliveryOf returns the fields delivery and event of a request that was signed; of another they are anybody's words.
func deliveryOf(r *http.Request, no *refusal) slog.Attr {
	id, event := r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-GitHub-Event")
	if no.result != deliveryFailed && no.result != deliveryMalformed || !isPlausibleName(id) || !isPlausibleName(event) {
		return slog.Attr{}
	}
	return slog.Group("", slog.String("delivery", id), slog.String("event", event))
}

// acceptRequest accepts a delivery, or says why not. The event is named only if the signature was right.
func (in *Intake) acceptRequest(w http.ResponseWriter, r *http.Request) (event, result string, err error) {
	want, err := in.checkHeaders(r)
	if err != nil {
		return "", "", err
	}
	body := &pooledBody{in: in}
	defer body.releasePieces()
	ok, err := body.readSigned(r.Context(), http.MaxBytesReader(w, r.Body, webhook.MaxPayload), newSignatureCheck(in.Secrets, want))
	switch {
	case err != nil:
		return "", "", err
	case !ok:
		return "", "", &refusal{status: http.StatusUnauthorized, result: deliveryRefused, say: "the signature is wrong"}
	}
	d, err := in.readDelivery(r)
	if err != nil {
		return d.Event, "", err
	}
	d.Payload = body.bytes()
	return in.receiveDelivery(r.Context(), d)
}

// checkHeaders refuses what needs no reading. It returns the signature that the body must have.
func (in *Intake) checkHeaders(r *http.Request) (want [sha256.Size]byte, err error) {
	switch {
	case r.URL.Path != WebhookPath:
		return want, &refusal{
			status: http.StatusNotFound, result: deliveryRefused, say: "there is nothing here", hint: "webhooks are sent to " + WebhookPath,
		}
	case r.Method != http.MethodPost:
		return want, &refusal{status: http.StatusMethodNotAllowed, result: deliveryRefused, say: "a webhook is sent with POST"}
	case r.ContentLength > webhook.MaxPayload:
		return want, &refusal{status: http.StatusRequestEntityTooLarge, result: deliveryRefused, say: "the body is larger than 25 MB"}
	}
	want, ok := readSignature(r.Header)
	if !ok {
		return want, &refusal{status: http.StatusUnauthorized, result: deliveryRefused, say: "there is no signature X-Hub-Signature-256"}
	}
	return want, nil
}

// readDelivery reads the headers of a request that is signed. GitHub does not sign headers: they decide nothing but
// names.
func (in *Intake) readDelivery(r *http.Request) (Received, error) {
	d := Received{ID: r.Header.Get("X-GitHub-Delivery"), Event: r.Header.Get("X-GitHub-Event"), At: in.Now()}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != jsonType:
		return d, &refusal{
			status: http.StatusUnsupportedMediaType, result: deliveryMalformed, say: "the body is not " + jsonType,
			hint: "set the webhook's content type to " + jsonType,
		}
	case !isPlausibleName(d.Event):
		return d, &refusal{status: http.StatusBadRequest, result: deliveryMalformed, say: "X-GitHub-Event names no event"}
	case !isPlausibleName(d.ID):
		return d, &refusal{status: http.StatusBadRequest, result: deliveryMalformed, say: "X-GitHub-Delivery names no delivery"}
	}
	return d, nil
}

// receiveDelivery hands a delivery on. It came whole and is signed: that its sender hangs up now is no reason to lose
// it.
func (in *Intake) receiveDelivery(ctx context.Context, d Received) (event, result string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	began := in.Now()
	result, err = in.Receive(ctx, d)
	in.Metrics.accepts.Observe(secondsOf(in.Now().Sub(began)))
	switch {
	case errors.Is(err, ErrMalformed):
		return d.Event, "", &refusal{
			status: http.StatusBadRequest, result: deliveryMalformed, say: "the payload is not what GitHub sends for this event", err: err,
		}
	case err != nil:
		return d.Event, "", fmt.Errorf("receive delivery %s: %w", d.ID, err)
	}
	return d.Event, result, nil
}

// readSignature reads X-Hub-Signature-256.
func readSignature(h http.Header) (sum [sha256.Size]byte, ok bool) {
	values := h.Values("X-Hub-Signature-256")
	if len(values) != 1 {
		return sum, false
	}
	text, ok := strings.CutPrefix(values[0], signaturePrefix)
	if !ok || len(text) != hex.EncodedLen(len(sum)) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(text))
	return sum, err == nil && hex.EncodeToString(sum[:]) == text // GitHub writes it in lower case
}

// isPlausibleName keeps names that come in headers to a safe alphabet.
func isPlausibleName(name string) bool {
	if name == "" || len(name) > maxHeaderID {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// A signatureCheck hashes a body as it comes, once for each secret.
type signatureCheck struct {
	want [sha256.Size]byte
	macs []hash.Hash
}

func newSignatureCheck(secrets []string, want [sha256.Size]byte) *signatureCheck {
	v := &signatureCheck{want: want}
	for _, secret := range secrets {
		if len(secret) >= minSecret { // a secret that was left empty must not let everybody in
			v.macs = append(v.macs, hmac.New(sha256.New, []byte(secret)))
		}
	}
	return v
}

func (v *signatureCheck) write(p []byte) {
	for _, mac := range v.macs {
		mac.Write(p)
	}
}

// matchesAny compares with all of them, so that its time does not tell which one was right.
func (v *signatureCheck) matchesAny() bool {
	right := 0
	for _, mac := range v.macs {
		if hmac.Equal(mac.Sum(nil), v.want[:]) {
			right++
		}
	}
	return right > 0
}

// A pooledBody is read in pieces that are used again: a large one that is announced and does not come costs one piece.
// Each piece beyond the first few is reserved when what came before it is full, from a bound for all bodies: nobody
// holds what he only announces. Bodies may so come to wait for each other: none does for long.
type pooledBody struct {
	in       *Intake
	pieces   []*[pieceSize]byte
	size     int
	reserved int64
	waited   time.Duration
}

// readSigned reads and hashes everything, and reports whether the signature is right.
func (b *pooledBody) readSigned(ctx context.Context, from io.Reader, v *signatureCheck) (bool, error) {
	for {
		if b.size == len(b.pieces)*pieceSize {
			if err := b.addPiece(ctx); err != nil {
				return false, err
			}
		}
		free := b.pieces[len(b.pieces)-1][b.size%pieceSize:]
		n, err := from.Read(free)
		v.write(free[:n])
		b.size += n
		switch {
		case errors.Is(err, io.EOF):
			return v.matchesAny(), nil
		case err != nil:
			return false, refusalOfRead(err)
		}
	}
}

// addPiece adds a piece.
func (b *pooledBody) addPiece(ctx context.Context) error {
	if len(b.pieces) >= freePieces {
		if err := b.reservePiece(ctx); err != nil {
			return err
		}
	}
	piece, ok := b.in.piecePool.Get().(*[pieceSize]byte)
	if !ok {
		return errors.New("unreachable: the pool holds nothing else")
	}
	b.pieces = append(b.pieces, piece)
	return nil
}

// reservePiece waits for a share of one piece.
func (b *pooledBody) reservePiece(ctx context.Context) error {
	if !b.in.sharedBytes.TryAcquire(pieceSize) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(ctx, sharedTimeout-b.waited)
		defer cancel()
		if b.in.sharedBytes.Acquire(ctx, pieceSize) != nil {
			return &refusal{status: http.StatusServiceUnavailable, result: deliveryFailed, say: "too many large bodies come at once"}
		}
		b.waited += time.Since(began)
	}
	b.reserved += pieceSize
	return nil
}

// bytes are valid until release. Only what is signed is ever copied into one piece.
func (b *pooledBody) bytes() []byte {
	if len(b.pieces) == 1 {
		return b.pieces[0][:b.size]
	}
	whole := bytes.NewBuffer(make([]byte, 0, b.size))
	for i, piece := range b.pieces {
		whole.Write(piece[:min(pieceSize, b.size-i*pieceSize)])
	}
	return whole.Bytes()
}

func (b *pooledBody) releasePieces() {
	for _, piece := range b.pieces {
		b.in.piecePool.Put(piece)
	}
	b.in.sharedBytes.Release(b.reserved)
	b.pieces, b.size, b.reserved = nil, 0, 0
}

// refusalOfRead says why a body did not come whole.
func refusalOfRead(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &refusal{status: http.StatusRequestEntityTooLarge, result: deliveryRefused, say: "the body is larger than 25 MB", err: err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{status: http.StatusRequestTimeout, result: deliveryRefused, say: "the body did not come in time", err: err}
	default:
		return &refusal{status: http.StatusBadRequest, result: deliveryRefused, say: "the body did not come whole", err: err}
	}
}

// quietLine counts what would flood a log.
type quietLine struct {
	mu    sync.Mutex
	n     int // since the last line
	until time.Time
}

// countLine reports whether it is time for a line, and how much it stands for.
func (q *quietLine) countLine(now time.Time) (n int, say bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n++
	if now.Before(q.until) {
		return 0, false
	}
	n, q.n, q.until = q.n, 0, now.Add(linePause)
	return n, true
}

// quoteBounded is an error's text on one line, of bounded length: it may hold what a stranger wrote.
func quoteBounded(text string) string {
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "?")
}
