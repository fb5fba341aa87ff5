package daemon

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
)

// pipes is a listener without a network: its connections know virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

func TestAHeaderThatNeverEndsIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, l := newDoor(), newPipes()
		server := NewServer(d, nil, nil)
		go server.Serve(l)
		defer server.Close()
		c, began := l.dial(), time.Now()
		done := drip(c, "POST /webhook HTTP/1.1\r\nHost: x\r\nX-Slow: ", "a")
		_, _ = io.Copy(io.Discard, c)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("cut after %s, want 5s", took)
		}
		<-done
	})
}

func TestABodyThatDripsIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, l := newDoor(), newPipes()
		server := NewServer(d, nil, nil)
		go server.Serve(l)
		defer server.Close()
		c, began := l.dial(), time.Now()
		done := drip(c, fmt.Sprintf("POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nX-Hub-Signature-256: sha256=%064d\r\n\r\n", 0), "a")
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || r.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%v %v, want 408", r, err)
		}
		_, _ = io.Copy(io.Discard, c)
		if took := time.Since(began); took < 15*time.Second || took > 16*time.Second {
			t.Errorf("cut after %s, want 15s", took)
		}
		if len(d.got) > 0 {
			t.Error("half a body was received")
		}
		<-done
	})
}

// drip sends a start, and then a little each second until the other side has enough.
func drip(c net.Conn, start, little string) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		_, err := io.WriteString(c, start)
		for err == nil {
			<-time.After(time.Second)
			_, err = io.WriteString(c, little)
		}
	}()
	return done
}

func TestAnIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		server := NewServer(http.NotFoundHandler(), nil, nil)
		go server.Serve(l)
		defer server.Close()
		c := l.dial()
		go io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		began := time.Now()
		_, _ = io.Copy(io.Discard, c)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("closed after %s, want a minute", took)
		}
	})
}

func TestHeadersAreBounded(t *testing.T) {
	l := newPipes()
	server := NewServer(http.NotFoundHandler(), nil, nil)
	go server.Serve(l)
	defer server.Close()
	c := l.dial()
	go io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("a", 64<<10)+"\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%v %v, want 431", r, err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := newPipes()
		l, most := ListenerOptions{Files: 1 << 20}.Limit(inner), 1024
		accepted := make(chan net.Conn)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				accepted <- c
			}
		}()
		defer l.Close()
		go func() {
			for range most + 1 {
				inner.dial()
			}
		}()
		first := <-accepted
		for range most - 1 {
			<-accepted
		}
		synctest.Wait()
		select {
		case <-accepted:
			t.Error("a connection too many was accepted")
		default:
		}
		first.Close()
		<-accepted // or the test ends as a deadlock
	})
}

// A process that may open few files leaves some for its database and for GitHub, and says so.
func TestFewFilesAllowFewConnections(t *testing.T) {
	for files, want := range map[uint64]string{16: "takes 8 ", 64: "takes 16 ", 1024: "takes 256 ", 4095: "takes 1023 ", 4096: "", math.MaxUint64: ""} {
		says := ListenerOptions{Files: files}.Warning()
		if !strings.Contains(says, want) || (says == "") != (want == "") {
			t.Errorf("%d files: %q, want %q", files, says, want)
		}
	}
}

// starved is a listener without file descriptors for a while.
type starved struct {
	net.Listener
	errs []error
}

func (l *starved) Accept() (net.Conn, error) {
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, err
}

// That no connection can be accepted is our own fault: the log says so once, and readiness until one is accepted.
func TestAListenerWithoutFilesSaysSo(t *testing.T) {
	var log bytes.Buffer
	full := &net.OpError{Op: "accept", Err: syscall.EMFILE}
	m := NewMetrics(MetricsOptions{})
	errs := []error{full, full, nil, full, net.ErrClosed}
	l := ListenerOptions{Metrics: m, Log: slog.New(slog.NewTextHandler(&log, nil))}.Limit(&starved{newPipes(), errs})
	synctest.Test(t, func(t *testing.T) {
		for i, want := range []bool{true, true, false, true, true} { // that it was closed says nothing of files
			l.Accept()
			if got := l.Failed(); got != want {
				t.Errorf("after %d: %t, want %t", i+1, got, want)
			}
		}
		settle(5 * time.Second) // nobody connects any more: it waits, so it works
		if l.Failed() {
			t.Error("it fails at rest")
		}
	})
	const line = "connections cannot be accepted"
	if said := log.String(); strings.Count(said, line) != 2 || !strings.Contains(said, "too many open files") || !strings.Contains(said, "LimitNOFILE") {
		t.Errorf("the log says\n%s", said)
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(w.Body.String(), "coordinator_accept_errors_total 3\n") {
		t.Error("three failures are not counted")
	}
}

func TestAPanicIsNoEnd(t *testing.T) {
	var log bytes.Buffer
	m := NewMetrics(MetricsOptions{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/early":
			panic("early\nfault")
		case "/late":
			io.WriteString(w, "half an answer")
			_ = http.NewResponseController(w).Flush()
			panic("late fault")
		default:
			io.WriteString(w, "fine")
		}
	})
	server := httptest.NewUnstartedServer(nil)
	server.Config = NewServer(handler, m, slog.New(slog.NewTextHandler(&log, nil)))
	server.Start()
	defer server.Close()
	get := func(path string) (int, string, error) {
		r, err := http.Get(server.URL + path)
		if err != nil {
			return 0, "", err
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		return r.StatusCode, string(text), err
	}
	if status, text, err := get("/early"); !errors.Is(err, io.EOF) {
		t.Errorf("a panic: %d %s %v", status, text, err)
	}
	if _, text, err := get("/late"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half an answer looks whole: %s %v", text, err)
	}
	if status, text, _ := get("/"); status != http.StatusOK || text != "fine" {
		t.Errorf("afterwards: %d %s", status, text)
	}
	server.Close()
	if got := scrape(t, m)["coordinator_http_panics_total"]; got != "2" || !strings.Contains(log.String(), "early fault") ||
		!strings.Contains(log.String(), "serve_test.go") {
		t.Errorf("%s panics were counted; the log: %s", got, &log)
	}
}

// oneConn is a listener to which one caller comes.
type oneConn struct{ conns chan net.Conn }

func (l oneConn) Accept() (net.Conn, error) {
	c, more := <-l.conns
	if !more {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l oneConn) Close() error   { return nil }
func (l oneConn) Addr() net.Addr { return &net.IPAddr{} }

// A server with deadlines for requests and answers does not cut the stream.
func TestTheDashboardsEventsOutliveTheServersDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := dashboard.NewFeed()
		srv := NewServer(dashboard.Board{Feed: feed, Now: time.Now}.Handler(), nil, nil)
		l := oneConn{conns: make(chan net.Conn, 1)}
		browser, ours := net.Pipe()
		l.conns <- ours
		go srv.Serve(l)
		if _, err := browser.Write([]byte("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(browser), nil)
		if err != nil {
			t.Fatal(err)
		}
		heard := make(chan string, 100)
		go func() {
			defer close(heard)
			for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
				heard <- lines.Text()
			}
		}()
		<-time.After(10 * time.Minute)
		synctest.Wait()
		for len(heard) > 0 {
			<-heard
		}
		feed.Publish("")
		if got := <-heard; got != "event: changed" {
			t.Errorf("after ten minutes: %q", got)
		}
		feed.Close()
		close(l.conns)
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		for range heard { // until the stream ends
			continue
		}
	})
}
