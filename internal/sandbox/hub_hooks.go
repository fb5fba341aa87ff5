package sandbox

// Webhooks on their way: they are signed, sent in order, never sent again by themselves, and the result of each is
// kept.

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// deliveryTimeout is how long GitHub waits for an answer.
const deliveryTimeout = 10 * time.Second

// maxKeptPayloads is how many of the deliveries that arrived keep their payload.
const maxKeptPayloads = 5000

// deliveryQueue holds the Hub's deliveries, waiting and tried. The Hub's lock guards it.
type deliveryQueue struct {
	lastID       int64
	guidCount    int64
	queue        []*HookDelivery // not yet taken
	tried        []*HookDelivery // tried, by id
	byID         map[int64]*HookDelivery
	payloadsFrom int // index in done: older ones that arrived have no payload
	pending      int // not yet done, the late ones included
	changed      chan struct{}
	decideFate   func(HookDelivery) Fate
}

// DisturbDeliveries sets a function that decides the fate of each delivery, redeliveries included. It is called with
// the delivery before it is sent, and must not call the Hub. nil disturbs none.
func (h *Hub) DisturbDeliveries(f func(HookDelivery) Fate) {
	defer h.mu.held()()
	h.deliveries.decideFate = f
}

// MuteWebhooks stops the events of all repositories, for callers that have the deliveries they want and would pay
// for payloads that are never read.
func (h *Hub) MuteWebhooks() { h.muted.Store(true) }

func (h *Hub) isMuted() bool { return h.muted.Load() }

// queueEvent queues the delivery of an event, unless the installation is suspended or deleted.
func (h *Hub) queueEvent(d *HookDelivery) {
	defer h.mu.held()()
	if in := h.installations[d.Installation]; in != nil && d.Event != "installation" && (in.deleted || !in.suspended.IsZero()) {
		return
	}
	h.deliveries.guidCount++
	d.GUID = fmt.Sprintf("%08x-5ca1-4ab1-8e55-%012x", h.deliveries.guidCount, accountID(d.Name)+d.Installation)
	h.enqueue(d)
}

// queueRedelivery queues a redelivery.
func (h *Hub) queueRedelivery(d *HookDelivery) {
	h.enqueue(&HookDelivery{
		GUID: d.GUID, Event: d.Event, Action: d.Action, Installation: d.Installation,
		Repository: d.Repository, Name: d.Name, Emitted: d.Emitted, Payload: d.Payload, Redelivery: true,
	})
}

// enqueue puts a delivery into the queue, as its fate allows. The caller holds the lock.
func (h *Hub) enqueue(d *HookDelivery) {
	q := &h.deliveries
	q.lastID++
	d.ID = 40_000_000 + q.lastID
	if q.decideFate != nil {
		d.fate = q.decideFate(*d)
	}
	if d.fate.Lost {
		return
	}
	q.byID[d.ID] = d
	q.pending++
	q.queue = append(q.queue, d)
	h.notifyWaiting()
}

// notifyWaiting wakes all that wait for a change of the queue. The caller holds the lock.
func (h *Hub) notifyWaiting() {
	close(h.deliveries.changed)
	h.deliveries.changed = make(chan struct{})
}

// TakeDeliveries returns the waiting deliveries and counts them as delivered, for callers that send them themselves.
func (h *Hub) TakeDeliveries() []HookDelivery {
	defer h.mu.held()()
	var all []HookDelivery
	for _, d := range h.deliveries.queue {
		d.Delivered, d.Status, d.Code = h.options.Now(), "OK", http.StatusAccepted
		all = append(all, *d)
		h.recordTried(d)
	}
	h.deliveries.queue = nil
	return all
}

// Deliveries lists the deliveries that were tried so far, oldest first.
func (h *Hub) Deliveries() []HookDelivery {
	defer h.mu.held()()
	all := make([]HookDelivery, 0, len(h.deliveries.tried))
	for _, d := range h.deliveries.tried {
		all = append(all, *d)
	}
	return all
}

// deliveriesLeft returns how many deliveries are left, and what is closed when that may have changed.
func deliveriesLeft(h *Hub) (left int, changed <-chan struct{}) {
	defer h.mu.held()()
	return h.deliveries.pending, h.deliveries.changed
}

// WaitDelivered waits until no delivery is left, late ones included.
func (h *Hub) WaitDelivered(ctx context.Context) error {
	for {
		left, bell := deliveriesLeft(h)
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

// announceInstallation sends an event of an installation.
func (h *Hub) announceInstallation(installation int64, event, action string, fields object) {
	in := h.findInstallation(installation)
	if in == nil || installation == 0 {
		return
	}
	o := object{"action": action, "installation": h.installationJSON(in), "sender": h.accountJSON(in.account)}
	maps.Copy(o, fields)
	h.queueEvent(&HookDelivery{Event: event, Action: action, Installation: installation, Emitted: h.options.Now(), Payload: renderJSON(o)})
	h.notifyDueChanged()
}

// minimalReposJSON lists repositories as installation events do.
func (h *Hub) minimalReposJSON(sites []*hubRepo) []any {
	defer h.mu.held()()
	all := []any{}
	for _, s := range sites {
		repo := s.name[len(s.installation.account)+1:]
		all = append(all, object{"id": s.id, "node_id": nodeID("R", s.id), "name": repo, "full_name": s.name, "private": false})
	}
	return all
}

// Sign returns the X-Hub-Signature-256 of a payload.
func Sign(secret string, payload []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(payload)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// deliveryHeaders returns the headers of a delivery.
func deliveryHeaders(d *HookDelivery, o HubOptions) http.Header {
	target, kind := o.App.ID, "integration"
	if d.Installation == 0 {
		target, kind = d.Repository, "repository"
	}
	header := http.Header{
		"Accept": {"*/*"}, "Content-Type": {"application/json"}, "User-Agent": {"GitHub-Hookshot/5ca1ab1"},
		"X-Github-Event": {d.Event}, "X-Github-Delivery": {d.GUID},
		"X-Github-Hook-Id": {"4711"}, "X-Github-Hook-Installation-Target-Id": {strconv.FormatInt(target, 10)},
		"X-Github-Hook-Installation-Target-Type": {kind},
	}
	if o.Secret != "" && d.Payload != nil {
		header.Set("X-Hub-Signature-256", Sign(o.Secret, d.Payload))
	}
	return header
}

// DeliveryRequest returns the request that makes a delivery.
func (h *Hub) DeliveryRequest(ctx context.Context, url string, d HookDelivery) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Payload))
	if err != nil {
		return nil, fmt.Errorf("make delivery %d: %w", d.ID, err)
	}
	req.Header = deliveryHeaders(&d, h.options.withCreated(h.created.Load()))
	return req, nil
}

// DeliverTo sends the events to a webhook's address until ctx ends, and returns when the deliveries under way are
// answered. It follows no redirect, waits ten seconds for an answer and tries nothing twice. A nil client is the
// default one.
func (h *Hub) DeliverTo(ctx context.Context, url string, client *http.Client) {
	if client == nil {
		client = http.DefaultClient
	}
	stays := *client
	stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h.deliverQueued(ctx, func(ctx context.Context, d HookDelivery) (int, error) {
		req, err := h.DeliveryRequest(ctx, url, d)
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

// DeliverFunc hands the events to f until ctx ends, without a network. An error of f is a failed delivery.
func (h *Hub) DeliverFunc(ctx context.Context, f func(event, guid string, payload []byte) error) {
	h.deliverQueued(ctx, func(_ context.Context, d HookDelivery) (int, error) {
		code := http.StatusAccepted
		if f(d.Event, d.GUID, d.Payload) != nil {
			code = http.StatusInternalServerError
		}
		return code, nil
	})
}

// deliverQueued sends deliveries, as many at a time as the options say, and returns when all that it began have
// ended.
func (h *Hub) deliverQueued(ctx context.Context, send func(context.Context, HookDelivery) (int, error)) {
	var workers sync.WaitGroup
	for range max(h.options.ParallelDeliveries, 1) {
		workers.Go(func() {
			for {
				d, err := h.nextDelivery(ctx)
				switch {
				case err != nil:
					return
				case d.fate.Delay <= 0:
					h.attemptDelivery(ctx, d, send)
				default:
					workers.Go(func() {
						if h.options.Sleep(ctx, d.fate.Delay) == nil {
							h.attemptDelivery(ctx, d, send)
						}
					})
				}
			}
		})
	}
	workers.Wait()
}

// takeDelivery takes a queued delivery; nil: there is none until changed is closed.
func takeDelivery(h *Hub) (d *HookDelivery, changed <-chan struct{}) {
	defer h.mu.held()()
	q := &h.deliveries
	if len(q.queue) > 0 {
		d, q.queue[0] = q.queue[0], nil
		q.queue = q.queue[1:]
	}
	return d, q.changed
}

// nextDelivery waits for a queued delivery and takes it.
func (h *Hub) nextDelivery(ctx context.Context) (*HookDelivery, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, bell := takeDelivery(h)
		if d != nil {
			return d, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-bell:
		}
	}
}

// attemptDelivery makes one delivery and keeps its result.
func (h *Hub) attemptDelivery(ctx context.Context, d *HookDelivery, send func(context.Context, HookDelivery) (int, error)) {
	began := h.options.Now()
	code, err := 0, error(nil)
	if d.fate.Drop {
		err = errors.New("dropped")
	} else {
		waiting, stop := context.WithTimeout(context.WithoutCancel(ctx), deliveryTimeout) // GitHub does not hang up early
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
	defer h.mu.held()()
	d.Delivered, d.Duration, d.Status, d.Code = h.options.Now(), h.options.Now().Sub(began), status, code
	h.recordTried(d)
	h.notifyWaiting()
}

// recordTried adds a delivery to those that were tried. The caller holds the lock.
func (h *Hub) recordTried(d *HookDelivery) {
	q := &h.deliveries
	q.pending--
	i := len(q.tried)
	for i > 0 && q.tried[i-1].ID > d.ID { // nearly always the last
		i--
	}
	q.tried = slices.Insert(q.tried, i, d)
	for q.payloadsFrom < len(q.tried)-maxKeptPayloads {
		if old := q.tried[q.payloadsFrom]; old.Status == "OK" {
			old.Payload = nil
		}
		q.payloadsFrom++
	}
}
