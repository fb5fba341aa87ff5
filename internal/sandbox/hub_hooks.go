package sandbox

// Webhooks on their way: they are signed, sent in order, never sent again by themselves, and what came of each is kept.

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// How long GitHub waits for an answer.
const deliveryPatience = 10 * time.Second

// keepsPayloads is of how many deliveries that arrived the payload is kept.
const keepsPayloads = 5000

// A Delivery is a webhook that was sent, or is to be.
type Delivery struct {
	ID           int64
	GUID         string // X-GitHub-Delivery: a redelivery has that of the first
	Event        string
	Action       string
	Installation int64
	Repository   int64     // id; 0 for none
	Name         string    // of the repository, as owner/name; "" for none
	Emitted      time.Time // when it happened
	Redelivery   bool
	Payload      []byte // nil for an old one that arrived

	Delivered time.Time     // when it was tried; zero: not yet
	Duration  time.Duration // how long that took
	Status    string        // OK, or what went wrong
	Code      int           // of the answer; 0: there was none

	url  string
	fate Fate
}

// OK reports whether the delivery arrived.
func (d Delivery) OK() bool { return d.Status == "OK" }

// Fate is what becomes of a delivery on its way.
type Fate struct {
	Lost   bool          // it is not sent, and GitHub does not know that: it is in no list
	Drop   bool          // it is not sent, and is listed as one that could not connect
	Twice  bool          // it arrives a second time
	Delay  time.Duration // it comes so much later
	Behind int           // so many later ones overtake it, if there are as many
}

// hooks is what the Hub knows of its deliveries. The Hub's lock guards it.
type hooks struct {
	last    int64
	guids   int64
	queue   []*Delivery // not yet taken by anybody
	done    []*Delivery // tried, by id
	byID    map[int64]*Delivery
	kept    int // index in done: older ones that arrived have no payload
	pending int // not yet done, the late ones included
	bell    chan struct{}
	fate    func(Delivery) Fate
	held    []*Delivery
}

// hook is where a repository's events go.
type hook struct {
	hub          *Hub
	installation int64
	repository   int64
}

// Disturb says what becomes of each delivery, redeliveries included. It is called with the delivery before it is sent,
// and must not call the Hub. nil disturbs none.
func (h *Hub) Disturb(f func(Delivery) Fate) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hooks.fate = f
}

// Mute makes the repositories announce nothing any more: for who has all the deliveries that he wants, and would pay for
// payloads that nobody reads.
func (h *Hub) Mute() { h.muted.Store(true) }

// post puts a delivery into the queue.
func (h *Hub) post(d *Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if in := h.installs[d.Installation]; in != nil && d.Event != "installation" && (in.gone || !in.suspended.IsZero()) {
		return
	}
	h.hooks.guids++
	d.GUID = fmt.Sprintf("%08x-5ca1-4ab1-8e55-%012x", h.hooks.guids, accountID(d.Name)+d.Installation)
	h.enqueue(d)
}

// again queues a redelivery.
func (h *Hub) again(d *Delivery) {
	h.enqueue(&Delivery{
		GUID: d.GUID, Event: d.Event, Action: d.Action, Installation: d.Installation, Repository: d.Repository, Name: d.Name, Emitted: d.Emitted, Payload: d.Payload, Redelivery: true,
	})
}

// enqueue lets fate have its way. The caller holds the lock.
func (h *Hub) enqueue(d *Delivery) {
	q := &h.hooks
	q.last++
	d.ID = 40_000_000 + q.last
	if q.fate != nil {
		d.fate = q.fate(*d)
	}
	if d.fate.Lost {
		return
	}
	q.byID[d.ID] = d
	q.pending++
	if d.fate.Behind > 0 {
		q.held = append(q.held, d)
		return
	}
	q.queue = append(q.queue, d)
	if d.fate.Twice {
		second := *d
		second.fate = Fate{}
		q.last++
		second.ID = 40_000_000 + q.last
		q.byID[second.ID] = &second
		q.pending++
		q.queue = append(q.queue, &second)
	}
	for i := 0; i < len(q.held); {
		if q.held[i].fate.Behind--; q.held[i].fate.Behind > 0 {
			i++
			continue
		}
		q.queue = append(q.queue, q.held[i])
		q.held = slices.Delete(q.held, i, i+1)
	}
	h.ring()
}

// ring wakes who waits for deliveries. The caller holds the lock.
func (h *Hub) ring() {
	close(h.hooks.bell)
	h.hooks.bell = make(chan struct{})
}

// Release sends what waits to be overtaken, though nothing came behind it.
func (h *Hub) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hooks.queue = append(h.hooks.queue, h.hooks.held...)
	h.hooks.held = nil
	h.ring()
}

// Take returns what waits to be delivered and counts it as delivered: for who sends it himself.
func (h *Hub) Take() []Delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []Delivery
	for _, d := range h.hooks.queue {
		d.Delivered, d.Status, d.Code = h.o.Now(), "OK", http.StatusAccepted
		all = append(all, *d)
		h.finished(d)
	}
	h.hooks.queue = nil
	return all
}

// Deliveries lists what was tried so far, oldest first.
func (h *Hub) Deliveries() []Delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Delivery, 0, len(h.hooks.done))
	for _, d := range h.hooks.done {
		all = append(all, *d)
	}
	return all
}

// Delivered waits until nothing is left to be delivered, the late ones included, but for those that wait to be overtaken.
func (h *Hub) Delivered(ctx context.Context) error {
	for {
		h.mu.Lock()
		left, bell := h.hooks.pending-len(h.hooks.held), h.hooks.bell
		h.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-bell:
		}
	}
}

// Redeliver sends a delivery again, as an administrator does in the browser.
func (h *Hub) Redeliver(id int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.hooks.byID[id]
	if d == nil || d.Delivered.IsZero() || d.Payload == nil {
		return fmt.Errorf("deliver %d again: there is none", id)
	}
	h.again(d)
	return nil
}

// Ping sends the event by which GitHub tries out a webhook.
func (h *Hub) Ping() {
	payload := render(object{
		"zen": "Keep it logically awesome.", "hook_id": 4711,
		"hook": object{
			"type": "App", "id": 4711, "name": "web", "active": true, "events": h.events(), "app_id": h.o.App.ID, "config": object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": "https://coordinator.invalid/webhook"},
			"created_at": stamp(h.began), "updated_at": stamp(h.began), "url": apiRoot + "/app/hook/config", "ping_url": apiRoot + "/app/hook/pings", "deliveries_url": apiRoot + "/app/hook/deliveries",
		},
	})
	h.post(&Delivery{Event: "ping", Emitted: h.o.Now(), Payload: payload})
}

// announce sends an event of an installation.
func (h *Hub) announce(installation int64, event, action string, fields object) {
	in := h.installation(installation)
	if in == nil || installation == 0 {
		return
	}
	o := object{"action": action, "installation": h.installationJSON(in), "sender": h.account(in.account)}
	for name, value := range fields {
		o[name] = value
	}
	h.post(&Delivery{Event: event, Action: action, Installation: installation, Emitted: h.o.Now(), Payload: render(o)})
	h.stir()
}

// minimal lists repositories as installation events do.
func (h *Hub) minimal(sites []*site) []any {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []any{}
	for _, s := range sites {
		repo := s.name[len(s.in.account)+1:]
		all = append(all, object{"id": s.id, "node_id": nodeID("R", s.id), "name": repo, "full_name": s.name, "private": false})
	}
	return all
}

// Sign is what X-Hub-Signature-256 says of a payload.
func Sign(secret string, payload []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(payload)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// headersOf are the headers of a delivery.
func headersOf(d *Delivery, o HubOptions) http.Header {
	target, kind := o.App.ID, "integration"
	if d.Installation == 0 {
		target, kind = d.Repository, "repository"
	}
	header := http.Header{
		"Accept": {"*/*"}, "Content-Type": {"application/json"}, "User-Agent": {"GitHub-Hookshot/5ca1ab1"}, "X-Github-Event": {d.Event}, "X-Github-Delivery": {d.GUID},
		"X-Github-Hook-Id": {"4711"}, "X-Github-Hook-Installation-Target-Id": {strconv.FormatInt(target, 10)}, "X-Github-Hook-Installation-Target-Type": {kind},
	}
	if o.Secret != "" && d.Payload != nil {
		header.Set("X-Hub-Signature-256", Sign(o.Secret, d.Payload))
	}
	return header
}

// Request is the request by which a delivery is made.
func (h *Hub) Request(ctx context.Context, url string, d Delivery) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Payload))
	if err != nil {
		return nil, fmt.Errorf("make delivery %d: %w", d.ID, err)
	}
	req.Header = headersOf(&d, h.o)
	return req, nil
}

// DeliverTo sends what happens to a webhook's address until ctx ends, and returns when what is on its way was answered.
// It follows no redirect, waits ten seconds for an answer and tries nothing twice. A nil client is the default one.
func (h *Hub) DeliverTo(ctx context.Context, url string, client *http.Client) {
	if client == nil {
		client = http.DefaultClient
	}
	stays := *client
	stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h.deliver(ctx, url, func(ctx context.Context, d Delivery) (int, error) {
		req, err := h.Request(ctx, url, d)
		if err != nil {
			return 0, err
		}
		res, err := stays.Do(req)
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
		return res.StatusCode, err
	})
}

// DeliverFunc hands what happens to f until ctx ends, without a network. An error of f is a failed delivery.
func (h *Hub) DeliverFunc(ctx context.Context, f func(event, guid string, payload []byte) error) {
	h.deliver(ctx, "", func(_ context.Context, d Delivery) (int, error) {
		code := http.StatusAccepted
		if f(d.Event, d.GUID, d.Payload) != nil {
			code = http.StatusInternalServerError
		}
		return code, nil
	})
}

// deliver sends with as many at a time as the options say, and returns when all that it began has ended.
func (h *Hub) deliver(ctx context.Context, url string, send func(context.Context, Delivery) (int, error)) {
	var workers sync.WaitGroup
	for range max(h.o.Parallel, 1) {
		workers.Go(func() {
			for {
				d, err := h.nextDelivery(ctx)
				switch {
				case err != nil:
					return
				case d.fate.Delay <= 0:
					h.try(ctx, url, d, send)
				default:
					workers.Go(func() {
						if h.o.Sleep(ctx, d.fate.Delay) == nil {
							h.try(ctx, url, d, send)
						}
					})
				}
			}
		})
	}
	workers.Wait()
}

// nextDelivery waits for one.
func (h *Hub) nextDelivery(ctx context.Context) (*Delivery, error) {
	for {
		h.mu.Lock()
		if err := ctx.Err(); err != nil {
			h.mu.Unlock()
			return nil, err
		}
		if len(h.hooks.queue) > 0 {
			d := h.hooks.queue[0]
			h.hooks.queue[0] = nil
			h.hooks.queue = h.hooks.queue[1:]
			h.mu.Unlock()
			return d, nil
		}
		bell := h.hooks.bell
		h.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-bell:
		}
	}
}

// try makes one delivery and keeps what came of it.
func (h *Hub) try(ctx context.Context, url string, d *Delivery, send func(context.Context, Delivery) (int, error)) {
	began := h.o.Now()
	code, err := 0, error(nil)
	if d.fate.Drop {
		err = errors.New("dropped")
	} else {
		waiting, stop := context.WithTimeout(context.WithoutCancel(ctx), deliveryPatience) // GitHub does not hang up early
		code, err = send(waiting, *d)
		stop()
	}
	var slow interface{ Timeout() bool }
	status := "OK"
	switch {
	case err != nil && (errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout()):
		status, code = "timed out", 0
	case err != nil:
		status, code = "failed to connect to host", 0
	case code < 200 || code > 299:
		status = fmt.Sprintf("Invalid HTTP Response: %d", code)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	d.Delivered, d.Duration, d.Status, d.Code, d.url = h.o.Now(), h.o.Now().Sub(began), status, code, url
	h.finished(d)
	h.ring()
}

// finished puts a delivery among those that were tried. The caller holds the lock.
func (h *Hub) finished(d *Delivery) {
	q := &h.hooks
	q.pending--
	i := len(q.done)
	for i > 0 && q.done[i-1].ID > d.ID { // nearly always the last
		i--
	}
	q.done = slices.Insert(q.done, i, d)
	for q.kept < len(q.done)-keepsPayloads {
		if old := q.done[q.kept]; old.Status == "OK" {
			old.Payload = nil
		}
		q.kept++
	}
}

func rawOrNull(b []byte) any {
	if b == nil {
		return nil
	}
	return json.RawMessage(b)
}
