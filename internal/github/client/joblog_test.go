package client

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const logs = "repos/acme/shop/actions/jobs/1/logs"

func found(where string) said { return said{status: 302, header: []string{"Location: " + where}} }

func TestLogs(t *testing.T) {
	text := said{status: 200, body: "one\ntwo\nthree\n", header: []string{`Etag: "x"`}}
	for _, test := range []struct {
		title, base string
		script      []said
		want, err   string
		auth        []bool // per request: the token went along
	}{
		{"stored elsewhere", "", []said{found("https://logs.example/x?sig=s3cret"), text}, "three\n", "", []bool{true, false}},
		{
			"stored elsewhere, and moved", "",
			[]said{found("https://logs.example/x?sig=s3cret"), found("https://more.example/y"), text},
			"three\n", "",
			[]bool{true, false, false},
		},
		{"on the API's host", "http://127.0.0.1:99", []said{found("/_logs/1"), text}, "three\n", "", []bool{true, false}},
		{"given at once", "", []said{text}, "three\n", "", []bool{true}},
		{
			"of a renamed repository", "",
			[]said{{status: 301, header: []string{"Location: /repositories/1/logs"}}, found("https://logs.example/x"), text},
			"three\n", "",
			[]bool{true, true, false},
		},
		{
			"a fault of the storage", "",
			[]said{found("https://logs.example/x"), {status: 503}, {status: 200, body: "thr", cut: true}, text},
			"three\n", "",
			[]bool{true, false, false, false},
		},
		{"expired", "", []said{{status: 410, body: `{"message":"Server Error"}`}}, "", "GET " + logs + ": 410 Server Error", []bool{true}},
		{
			"lost", "",
			[]said{found("https://logs.example/x?sig=s3cret"), {status: 404, body: "<Code>BlobNotFound</Code>"}},
			"",
			"GET " + logs + ": 404 Not Found",
			[]bool{true, false},
		},
		{
			"to loopback", "",
			[]said{found("https://127.0.0.1/x")},
			"",
			"GET " + logs + ": a redirect to the private address 127.0.0.1 is not followed",
			[]bool{true},
		},
		{
			"to the cloud's secrets", "",
			[]said{found("https://169.254.169.254/x")},
			"",
			"GET " + logs + ": a redirect to the private address 169.254.169.254 is not followed",
			[]bool{true},
		},
		{
			"to loopback as IPv6", "",
			[]said{found("https://[::ffff:127.0.0.1]/x")},
			"",
			"GET " + logs + ": a redirect to the private address [::ffff:127.0.0.1] is not followed",
			[]bool{true},
		},
		{
			"to localhost", "",
			[]said{found("https://localhost:8080/x")},
			"",
			"GET " + logs + ": a redirect to the private address localhost:8080 is not followed",
			[]bool{true},
		},
		{
			"in the clear", "",
			[]said{found("http://logs.example/x")},
			"",
			"GET " + logs + ": a redirect to logs.example, which is not https, is not followed",
			[]bool{true},
		},
		{
			"in the clear, second hop", "",
			[]said{found("https://logs.example/x"), found("http://logs.example/x")},
			"",
			"GET " + logs + ": a redirect to logs.example, which is not https, is not followed",
			[]bool{true, false},
		},
		{"to a file", "", []said{found("file:///etc/passwd")}, "", "GET " + logs + ": a redirect to a URL that is none of a file", []bool{true}},
		{"with a password", "", []said{found("https://u:p@logs.example/x")}, "", "GET " + logs + ": a redirect to a URL that is none of a file", []bool{true}},
		{
			"in a circle", "",
			[]said{found("https://logs.example/x")},
			"", "GET " + logs + ": more than 5 redirects",
			[]bool{true, false, false, false, false, false},
		},
		{"a private GitHub's private storage", "https://10.1.2.3/api/v3", []said{found("https://10.1.2.4/x"), text}, "three\n", "", []bool{true, false}},
	} {
		t.Run(test.title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := follows(test.script...)
				c := w.client(t, func(o *Options) { o.BaseURL = test.base })
				got, err := c.Tail(t.Context(), logs, 6)
				if string(got) != test.want || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
					t.Errorf("%q, %v", got, err)
				}
				if len(w.heard) != len(test.auth) {
					t.Fatalf("heard %+v", w.heard)
				}
				for i, h := range w.heard {
					if (h.auth != "") != test.auth[i] {
						t.Errorf("%s: %q", h.url, h.auth)
					}
				}
			})
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestTail(t *testing.T) {
	for _, test := range []struct {
		text string
		keep int64
		want string
	}{
		{"", 3, ""},
		{"ab", 3, "ab"},
		{"abcdefghij", 3, "hij"},
		{strings.Repeat("x", 100<<10) + "end", 3, "end"},
	} {
		got, err := follows(said{status: 200, body: test.text}).client(t).Tail(t.Context(), logs, test.keep)
		if string(got) != test.want || err != nil {
			t.Errorf("%.20q: %q, %v", test.text, got, err)
		}
	}
}

// A log that never ends, and an answer as long, cost neither the memory nor another try.
func TestEndlessAnswers(t *testing.T) {
	var asked int
	c := follows().client(t, func(o *Options) {
		o.Transport = tripper(func(*http.Request) (*http.Response, error) {
			asked++
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(endless{})}, nil
		})
	})
	_, tail := c.Tail(t.Context(), logs, 10)
	_, _, answer := get(t, c)
	if !errors.Is(tail, ErrTooLong) || !errors.Is(answer, ErrTooLong) || asked != 2 {
		t.Errorf("%v, %v, asked %d times", tail, answer, asked)
	}
}

func TestPrivateAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1": true, "10.0.0.1": true, "172.16.9.9": true, "192.168.1.1": true, "169.254.169.254": true, "100.64.0.1": true, "0.0.0.0": true,
		"::1": true, "::": true, "fc00::1": true, "fe80::1": true, "::ffff:10.0.0.1": true, "64:ff9b::7f00:1": true, "224.0.0.1": true, "255.255.255.255": true,
		"140.82.121.6": false, "2606:50c0:8000::154": false, "64:ff9b::8c52:7906": false,
	} {
		host := address
		if strings.Contains(address, ":") {
			host = "[" + address + "]"
		}
		w := follows(found("https://"+host+"/x"), said{status: 200, body: "a log"})
		_, err := w.client(t).Tail(t.Context(), logs, 6)
		if refused := err != nil && strings.Contains(err.Error(), "a redirect to the private address"); refused != want || w.count() > 1 == want {
			t.Errorf("%s: private is %v: %v", address, refused, err)
		}
	}
}

// The name of a public host may resolve to anything: the guard stands where the address is known.
func TestTheGuardStandsAtTheDial(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("dialed") }))
	defer server.Close()
	guarded := newTransport(&net.Dialer{Timeout: time.Second, Control: refusePrivate}, 2)
	guarded.Proxy = nil
	resp, err := guarded.RoundTrip(httptest.NewRequest("GET", server.URL, nil))
	if err == nil {
		resp.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "a private address is not dialed") {
		t.Errorf("got %v", err)
	}
}
