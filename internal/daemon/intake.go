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
	sharedTimeout   = 3 * time.Second // how long a body may wait for its shares in all: then 503, before GitHub's 10 seconds are over
	acceptTimeout   = 9 * time.Second // GitHub counts what takes 10 seconds as failed
	linePause       = time.Minute     // between two lines about what anybody can cause
	minSecret       = 16              // bytes
	maxSecrets      = 8               // each costs a hash of every body
	signatureHeader = "X-Hub-Signature-256"
	signaturePrefix = "sha256=" // the older sha1= is never enough
	signatureSize   = len(signaturePrefix) + 2*sha256.Size
	jsonType        = "application/json"
)

// isPlausibleName keeps names that come in headers to a safe alphabet.
func isPlausibleName(name string) bool {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return name != "" && len(name) <= 100 && strings.Trim(name, alphabet) == ""
}

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
	Metrics *Metrics
	Log     *slog.Logger // nil: nothing is logged
	Now     func() time.Time

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
			return nil, fmt.Errorf("read webhook secrets: secret %d of %d has %d bytes, at least %d are needed", i+1, len(parts), n, minSecret)
		}
	}
	return secrets, nil
}

func (in *Intake) fillDefaults() {
	in.sharedBytes = semaphore.NewWeighted(maxSharedBytes)
	in.piecePool.New = func() any { return new([pieceSize]byte) }
	in.Log = orDiscard(in.Log)
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
		dashboard.WriteJSON(w, http.StatusAccepted, map[string]string{"result": result})
		return
	}
	no := &refusal{status: http.StatusServiceUnavailable, result: deliveryFailed, say: "the delivery was not accepted"}
	errors.As(err, &no)
	in.Metrics.Delivered(event, no.result)
	if no.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	if no.status == http.StatusUnauthorized { // no detail: whoever guesses learns nothing
		w.WriteHeader(no.status)
	} else {
		dashboard.WriteJSON(w, no.status, dashboard.ErrorAnswer{Error: no.Error(), Hint: no.hint})
	}
	in.logRefusal(r, no, err)
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
	isSigned := no.result == deliveryFailed || no.result == deliveryMalformed
	if !isSigned || !isPlausibleName(id) || !isPlausibleName(event) {
		return slog.Attr{}
	}
	return slog.Group("", slog.String("delivery", id), slog.String("event", event))
}

// acceptRequest accepts a delivery, or says why not. The event is named only if the signature was right.
func (in *Intake) acceptRequest(w http.ResponseWriter, r *http.Request) (event, result string, err error) {
	if err := checkHeaders(r); err != nil {
		return "", "", err
	}
	body := &pooledBody{in: in, patience: sharedTimeout}
	defer body.releasePieces()
	if err := body.readSigned(r.Context(), http.MaxBytesReader(w, r.Body, webhook.MaxPayload), r.Header.Get(signatureHeader)); err != nil {
		return "", "", err
	}
	d, err := in.readDelivery(r)
	if err != nil {
		return d.Event, "", err
	}
	d.Payload = body.bytes()
	return in.receiveDelivery(r.Context(), d)
}

// checkHeaders refuses what needs no reading.
func checkHeaders(r *http.Request) error {
	refuse := func(status int, say, hint string) error {
		return &refusal{status: status, result: deliveryRefused, say: say, hint: hint}
	}
	signatures := r.Header.Values(signatureHeader)
	switch {
	case r.URL.Path != WebhookPath:
		return refuse(http.StatusNotFound, "there is nothing here", "webhooks are sent to "+WebhookPath)
	case r.Method != http.MethodPost:
		return refuse(http.StatusMethodNotAllowed, "a webhook is sent with POST", "")
	case r.ContentLength > webhook.MaxPayload:
		return refuse(http.StatusRequestEntityTooLarge, "the body is larger than 25 MB", "")
	case len(signatures) != 1 || !strings.HasPrefix(signatures[0], signaturePrefix) || len(signatures[0]) != signatureSize:
		return refuse(http.StatusUnauthorized, "there is no signature "+signatureHeader, "")
	}
	return nil
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

// A pooledBody is read in pieces that are used again: a large one that is announced and does not come costs one piece.
// Each piece beyond the first few is reserved when what came before it is full, from a bound for all bodies: nobody
// holds what he only announces. Bodies may so come to wait for each other: none does for long.
type pooledBody struct {
	in       *Intake
	pieces   []*[pieceSize]byte
	size     int
	patience time.Duration // for how much longer it waits for shares
}

// readSigned reads everything, and returns an error unless the signature is right.
func (b *pooledBody) readSigned(ctx context.Context, from io.Reader, signature string) error {
	for {
		if b.size == len(b.pieces)*pieceSize {
			if err := b.addPiece(ctx); err != nil {
				return err
			}
		}
		n, err := from.Read(b.pieces[len(b.pieces)-1][b.size%pieceSize:])
		b.size += n
		switch {
		case errors.Is(err, io.EOF) && b.isSigned(signature):
			return nil
		case errors.Is(err, io.EOF):
			return &refusal{status: http.StatusUnauthorized, result: deliveryRefused, say: "the signature is wrong"}
		case err != nil:
			return refusalOfRead(err)
		}
	}
}

// isSigned compares a signature, which GitHub writes in lower case, with that of each secret: its time does not tell which one was
// right. A secret that was left empty must not let everybody in.
func (b *pooledBody) isSigned(signature string) bool {
	right := 0
	for _, secret := range b.in.Secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		b.writeTo(mac)
		isRight := hmac.Equal([]byte(signaturePrefix+hex.EncodeToString(mac.Sum(nil))), []byte(signature))
		if isRight && len(secret) >= minSecret {
			right++
		}
	}
	return right > 0
}

// addPiece adds a piece, for which all but the first few wait until others leave their share of memory.
func (b *pooledBody) addPiece(ctx context.Context) error {
	if len(b.pieces) >= freePieces && !b.in.sharedBytes.TryAcquire(pieceSize) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(ctx, b.patience)
		defer cancel()
		if b.in.sharedBytes.Acquire(ctx, pieceSize) != nil {
			return &refusal{status: http.StatusServiceUnavailable, result: deliveryFailed, say: "too many large bodies come at once"}
		}
		b.patience -= time.Since(began)
	}
	piece, _ := b.in.piecePool.Get().(*[pieceSize]byte) // the pool holds nothing else
	b.pieces = append(b.pieces, piece)
	return nil
}

// bytes are valid until release. Only what is signed is ever copied into one piece.
func (b *pooledBody) bytes() []byte {
	if len(b.pieces) == 1 {
		return b.pieces[0][:b.size]
	}
	whole := bytes.NewBuffer(make([]byte, 0, b.size))
	b.writeTo(whole)
	return whole.Bytes()
}

// writeTo writes all that was read to what takes every write: a hash, or memory.
func (b *pooledBody) writeTo(w io.Writer) {
	for i, piece := range b.pieces {
		_, _ = w.Write(piece[:min(pieceSize, b.size-i*pieceSize)])
	}
}

func (b *pooledBody) releasePieces() {
	for _, piece := range b.pieces {
		b.in.piecePool.Put(piece)
	}
	b.in.sharedBytes.Release(int64(max(len(b.pieces)-freePieces, 0)) * pieceSize)
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
