package main

// GitHub's side of the webhook, made cheap: a client that takes much of the machine would spoil the measurement.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A signedDelivery is a delivery that is ready to be sent, but for its id, which the signature does not cover.
type signedDelivery struct {
	event  string
	header []byte // of the request, up to the id
	body   []byte
}

// signDelivery signs a delivery.
func (t *fakeGitHub) signDelivery(d sandbox.HookDelivery) signedDelivery {
	var head bytes.Buffer
	fmt.Fprintf(
		&head,
		"POST /webhook HTTP/1.1\r\nHost: coordinator\r\nUser-Agent: GitHub-Hookshot/5ca1ab1\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-GitHub-Event: %s\r\nX-Hub-Signature-256: %s\r\nX-GitHub-Delivery: ",
		len(d.Payload),
		d.Event,
		sandbox.Sign(t.secret, d.Payload),
	)
	return signedDelivery{event: d.Event, header: head.Bytes(), body: d.Payload}
}

// newDeliveryID returns a new random delivery id.
func newDeliveryID() string { return "bead-" + rand.Text() }

// A webhookConn is a connection to the daemon's webhook that is kept open.
type webhookConn struct {
	conn   net.Conn
	reader *bufio.Reader
	buffer []byte
}

func dialWebhook(ctx context.Context, address string) (*webhookConn, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	return &webhookConn{conn: conn, reader: bufio.NewReader(conn)}, nil
}

func (l *webhookConn) close() { _ = l.conn.Close() }

// sendDelivery delivers w and returns the answer's status and body.
func (l *webhookConn) sendDelivery(w signedDelivery, id string) (status int, body []byte, err error) {
	l.buffer = append(append(append(append(l.buffer[:0], w.header...), id...), "\r\n\r\n"...), w.body...)
	_ = l.conn.SetDeadline(time.Now().Add(sendTimeout)) // a broken connection fails at the write
	if _, err := l.conn.Write(l.buffer); err != nil {
		return 0, nil, fmt.Errorf("send: %w", err)
	}
	return l.readAnswer()
}

const (
	sendTimeout  = 10 * time.Second // GitHub waits no longer
	slowPortions = 24               // parts of a body that is sent slowly
)

// sendSlowly delivers w with its body in portions over a while, and calls begun after each portion. A refusal is
// answered before the whole body was read, so the answer is read even if writing failed.
func (l *webhookConn) sendSlowly(
	ctx context.Context,
	w signedDelivery,
	id string,
	over time.Duration,
	begun func(),
) (status int, body []byte, err error) {
	_ = l.conn.SetDeadline(time.Now().Add(sendTimeout + over))
	_, err = l.conn.Write(append(append(slices.Clip(w.header), id...), "\r\n\r\n"...))
	for portion := range slices.Chunk(w.body, (len(w.body)+slowPortions-1)/slowPortions) {
		if err != nil {
			break
		}
		if _, err = l.conn.Write(portion); err == nil {
			begun()
			err = sleepFor(ctx, over/slowPortions)
		}
	}
	status, body, unanswered := l.readAnswer()
	if unanswered != nil {
		return 0, nil, errors.Join(err, unanswered)
	}
	return status, body, nil
}

func (l *webhookConn) readAnswer() (status int, body []byte, err error) {
	first, err := l.reader.ReadSlice('\n')
	if err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(first) < 12 {
		return 0, nil, fmt.Errorf("the answer begins with %q", first)
	}
	if status, err = strconv.Atoi(string(first[9:12])); err != nil {
		return 0, nil, fmt.Errorf("the answer begins with %q", first)
	}
	length := 0
	for {
		header, err := l.reader.ReadSlice('\n')
		if err != nil {
			return 0, nil, fmt.Errorf("read the answer: %w", err)
		}
		header = bytes.TrimRight(header, "\r\n")
		if len(header) == 0 {
			break
		}
		if name, value, _ := bytes.Cut(header, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, nil, fmt.Errorf("read the answer: %w", err)
			}
		}
	}
	body = make([]byte, length)
	if _, err := io.ReadFull(l.reader, body); err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	return status, body, nil
}
