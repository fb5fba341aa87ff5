//go:build !action

package main

// What strangers may do to the listeners of the program, as serve builds them: in virtual time, on a network of pipes.

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// piped is a listener without a network: its connections know virtual time.
type piped struct {
	t        *testing.T
	conns    chan net.Conn
	accepted atomic.Int64
	closed   chan struct{}
	close    func()
}

func newPiped(t *testing.T) *piped {
	p := &piped{t: t, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		p.accepted.Add(1)
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *piped) Close() error {
	p.close()
	return nil
}

func (p *piped) Addr() net.Addr { return &net.TCPAddr{} }

// dial waits until it is accepted, or nobody accepts any more.
func (p *piped) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.t.Cleanup(func() { ours.Close() })
	select {
	case p.conns <- theirs:
	case <-p.closed:
	}
	return ours
}

// piping serves on pipes, with a GitHub on which there is nothing to do.
func piping(t *testing.T) (hooks, admin *piped, stop func()) {
	t.Helper()
	hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}})
	ctx, cancel := context.WithCancel(t.Context())
	hooks, admin = newPiped(t), newPiped(t)
	s, err := openServer(ctx, serverConfig{
		Listen: "hooks:80", AdminListen: "admin:80", Database: filepath.Join(t.TempDir(), "c.db"), Secrets: []string{loadSecret},
		GitHub: client.Options{BaseURL: "https://api.github.com", Transport: hub, App: &client.App{ID: 4711, Key: testKey()}},
		Resync: 5 * time.Minute, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Bind: func(_ context.Context, address string) (net.Listener, error) {
			if address == "admin:80" {
				return admin, nil
			}
			return hooks, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- s.serve(ctx) }()
	return hooks, admin, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.close()
	}
}

// The first line of the log says as whom it works, where GitHub is, and how often it asks.
func TestServeSaysWhatItIs(t *testing.T) {
	testKey()
	for want, o := range map[string]client.Options{
		`identity="App 4711" api=https://ghe.example/api/v3 resync=5m0s`:     {BaseURL: "https://ghe.example/api/v3", App: &client.App{ID: 4711, Key: testKey()}},
		`identity="a personal token" api=https://api.github.com resync=5m0s`: {Token: checkToken},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			o.Transport = sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, PersonalToken: checkToken})
			s, err := openServer(t.Context(), serverConfig{
				Listen: "hooks:80", AdminListen: "admin:80", Database: filepath.Join(t.TempDir(), "c.db"), Secrets: []string{loadSecret},
				GitHub: o, Resync: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now,
				Bind: func(context.Context, string) (net.Listener, error) { return newPiped(t), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- s.serve(ctx) }()
			synctest.Wait()
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			s.close()
			if first, _, _ := strings.Cut(log.String(), "\n"); !strings.HasSuffix(first, want) || strings.Contains(log.String(), checkToken) {
				t.Errorf("it says %s, want %s", &log, want)
			}
		})
	}
}

// Each listener has so many connections at a time and no more, and who holds one and says nothing loses it to who waits.
func TestServeBoundsItsConnections(t *testing.T) {
	testKey()
	for _, admin := range []bool{false, true} {
		t.Run(fmt.Sprintf("admin=%t", admin), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, other, stop := piping(t)
				defer stop()
				if admin {
					l, other = other, l
				}
				const most = 1024
				for range most + 1 {
					go l.dial()
				}
				synctest.Wait()
				if got := l.accepted.Load(); got != most {
					t.Errorf("%d connections at a time, want %d", got, most)
				}
				go other.dial()
				synctest.Wait()
				if other.accepted.Load() != 1 {
					t.Error("the other listener is held up, too")
				}
				<-time.After(5*time.Second + 1)
				synctest.Wait()
				if got := l.accepted.Load(); got != most+1 {
					t.Errorf("%d connections after 5s in which nobody said anything, want %d", got, most+1)
				}
			})
		})
	}
}

// A header or a body that never ends is cut, and so is who asks nothing more.
func TestServeHasDeadlines(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hooks, admin, stop := piping(t)
		defer stop()
		const get, post = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
		signed := fmt.Sprintf("X-Hub-Signature-256: sha256=%064d\r\n", 0)
		for _, test := range []struct {
			name   string
			l      *piped
			say    string
			drips  bool
			status int // of the answer; 0: none
			least  time.Duration
		}{
			{"a webhook's header", hooks, post + "X-Slow: ", true, 0, 5 * time.Second},
			{"a webhook's body", hooks, post + signed + "\r\n", true, http.StatusRequestTimeout, 15 * time.Second},
			{"a webhook's connection", hooks, get + "\r\n", false, http.StatusNotFound, time.Minute},
			{"a person's header", admin, get + "X-Slow: ", true, 0, 5 * time.Second},
			{"a person's connection", admin, get + "\r\n", false, http.StatusOK, time.Minute},
		} {
			began := time.Now()
			c := test.l.dial()
			if err := c.SetDeadline(began.Add(2 * time.Minute)); err != nil { // who is never cut would drip for ever
				t.Fatal(err)
			}
			go say(c, test.say, test.drips)
			if test.status != 0 {
				if r, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || r.StatusCode != test.status {
					t.Errorf("%s: %v %v, want %d", test.name, r, err, test.status)
				}
			}
			_, _ = io.Copy(io.Discard, c)
			if took := time.Since(began); took < test.least || took > test.least+time.Second {
				t.Errorf("%s: cut after %s, want %s", test.name, took, test.least)
			}
		}
	})
}

// say sends text, and if it drips a letter each second until the other side has enough.
func say(c net.Conn, text string, drips bool) {
	_, err := io.WriteString(c, text)
	for drips && err == nil {
		<-time.After(time.Second)
		_, err = io.WriteString(c, "a")
	}
}
