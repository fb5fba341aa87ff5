package main

// GitHub's side of the webhook, made cheap: a benchmark that spends the machine on its own client measures nothing.

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

// A wire is a delivery that is ready to be sent: signed, but for its id, which is not part of what is signed.
type wire struct {
	event string
	head  []byte // of the request, up to the id
	body  []byte
}

// wired signs a delivery.
func (t *town) wired(d sandbox.Delivery) wire {
	var head bytes.Buffer
	fmt.Fprintf(&head, "POST /webhook HTTP/1.1\r\nHost: coordinator\r\nUser-Agent: GitHub-Hookshot/5ca1ab1\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-GitHub-Event: %s\r\nX-Hub-Signature-256: %s\r\nX-GitHub-Delivery: ",
		len(d.Payload), d.Event, sandbox.Sign(t.secret, d.Payload))
	return wire{event: d.Event, head: head.Bytes(), body: d.Payload}
}

// newID is an id that no delivery had.
func newID() string { return "bead-" + rand.Text() }

// A line is a connection that is kept.
type line struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

func dial(ctx context.Context, address string) (*line, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	return &line{conn: conn, in: bufio.NewReader(conn)}, nil
}

func (l *line) close() { _ = l.conn.Close() }

// send delivers w and returns the answer's status and body.
func (l *line) send(w wire, id string) (status int, body []byte, err error) {
	l.out = append(append(append(append(l.out[:0], w.head...), id...), "\r\n\r\n"...), w.body...)
	_ = l.conn.SetDeadline(time.Now().Add(sendMost)) // a connection that is gone says so when it is written to
	if _, err := l.conn.Write(l.out); err != nil {
		return 0, nil, fmt.Errorf("send: %w", err)
	}
	return l.answer()
}

const (
	sendMost = 10 * time.Second // GitHub waits no longer
	portions = 24               // of a body that is sent slowly
)

// slowly delivers w, its body in portions over a while, and calls begun after the first. Who is refused is told so before
// everything was read: the answer is there even if nothing more can be written.
func (l *line) slowly(ctx context.Context, w wire, id string, over time.Duration, begun func()) (status int, body []byte, err error) {
	_ = l.conn.SetDeadline(time.Now().Add(sendMost + over))
	_, err = l.conn.Write(append(append(slices.Clip(w.head), id...), "\r\n\r\n"...))
	for portion := range slices.Chunk(w.body, (len(w.body)+portions-1)/portions) {
		if err != nil {
			break
		}
		if _, err = l.conn.Write(portion); err == nil {
			begun()
			err = pause(ctx, over/portions)
		}
	}
	status, body, unanswered := l.answer()
	if unanswered != nil {
		return 0, nil, errors.Join(err, unanswered)
	}
	return status, body, nil
}

func (l *line) answer() (status int, body []byte, err error) {
	first, err := l.in.ReadSlice('\n')
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
		header, err := l.in.ReadSlice('\n')
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
	if _, err := io.ReadFull(l.in, body); err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	return status, body, nil
}
