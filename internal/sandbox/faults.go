package sandbox

// Faults: requests and answers that fail on the way to GitHub and back.

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// FaultKind is how a request fails.
type FaultKind string

const (
	FaultAnswer   FaultKind = ""         // GitHub answers with Status, Header and Body
	FaultReset    FaultKind = "reset"    // the connection is reset before GitHub has done anything
	FaultHang     FaultKind = "hang"     // nothing comes until the caller gives up
	FaultTruncate FaultKind = "truncate" // the request is carried out, half of the answer arrives
	FaultGarbage  FaultKind = "garbage"  // 200 with an HTML page
	FaultLost     FaultKind = "lost"     // the request is carried out, its answer is lost
	FaultUnsent   FaultKind = "unsent"   // the request never reaches GitHub
)

// A Fault strikes the requests that match it.
type Fault struct {
	Match      string        // "POST /repos/*/*/check-runs": * is one segment, or the method; ** at the end the rest; "" all
	Skip       int           // let so many pass first
	Times      int           // strike so often; 0: always
	For        time.Duration // from its first strike on; 0: always
	Kind       FaultKind
	Status     int      // of FaultAnswer
	Body       string   // of FaultAnswer; default GitHub's shape of an error
	Header     []string // "Name: value"; {reset} in a value is the end of For as a Unix time
	CarriedOut bool     // FaultAnswer, FaultHang: the request is carried out all the same

	matched, struck int
	endsAt          time.Time
}

// AddFault adds a fault, in a Hub for requests to all repositories and to the App's own endpoints. Of several that match
// a request the first strikes.
func (f *front) AddFault(fault Fault) {
	defer f.guard.held()()
	fault.matched, fault.struck, fault.endsAt = 0, 0, time.Time{}
	f.faults = append(f.faults, &fault)
}

// ClearFaults ends all faults; a Hub's repositories keep theirs.
func (f *front) ClearFaults() {
	defer f.guard.held()()
	f.faults = nil
}

// StruckRequests counts the requests that met a fault.
func (f *front) StruckRequests() (struck int) {
	for _, r := range f.Requests() {
		if r.Faulted {
			struck++
		}
	}
	return struck
}

// triggerFault returns the fault that a request meets, and counts it; nil if it meets none.
func (f *front) triggerFault(r *routedRequest) *Fault {
	defer f.guard.held()()
	for _, f := range f.faults {
		if !f.matches(r.Method, r.path) {
			continue
		}
		f.matched++
		switch {
		case f.matched <= f.Skip:
		case f.Times > 0 && f.struck >= f.Times:
		case f.struck > 0 && f.For > 0 && !r.now.Before(f.endsAt):
		default:
			if f.struck == 0 {
				f.endsAt = r.now.Add(f.For)
			}
			f.struck++
			return f
		}
	}
	return nil
}

func (f *Fault) matches(method, path string) bool {
	if f.Match == "" {
		return true
	}
	wantMethod, wantPath, _ := strings.Cut(f.Match, " ")
	if wantMethod != "*" && wantMethod != method {
		return false
	}
	want, got := strings.Split(strings.Trim(wantPath, "/"), "/"), strings.Split(strings.Trim(path, "/"), "/")
	for i, w := range want {
		switch {
		case w == "**":
			return true
		case i >= len(got), w != "*" && w != got[i]:
			return false
		}
	}
	return len(want) == len(got)
}

// isCarriedOut reports whether GitHub carries the request out in spite of the fault; nil is none.
func (f *Fault) isCarriedOut() bool {
	if f == nil {
		return true
	}
	switch f.Kind {
	case FaultLost, FaultTruncate:
		return true
	case FaultAnswer, FaultHang:
		return f.CarriedOut
	default:
		return false
	}
}

func (f *Fault) hangs() bool { return f != nil && f.Kind == FaultHang }

// letsAnswerArrive reports whether an answer arrives, even half of one.
func (f *Fault) letsAnswerArrive() bool { return f.transportError() == nil && !f.hangs() }

// replaceAnswer returns what GitHub answers because of the fault: the given answer, if the fault leaves it as it is.
func (f *Fault) replaceAnswer(of routeAnswer) routeAnswer {
	if f == nil {
		return of
	}
	switch f.Kind {
	case FaultAnswer:
		a := answerError(f.Status, or(f.Body, "Server Error"))
		if f.Body != "" {
			a = answerRaw(f.Status, "application/json; charset=utf-8", []byte(f.Body))
		}
		for _, h := range f.Header {
			name, value, _ := strings.Cut(h, ":")
			a.header = withHeader(
				a.header, http.CanonicalHeaderKey(name),
				strings.ReplaceAll(strings.TrimSpace(value), "{reset}", strconv.FormatInt(f.endsAt.Add(time.Second-1).Unix(), 10)),
			)
		}
		return a
	case FaultGarbage:
		const page = "<!DOCTYPE html><html><body>This page is taking too long to load.</body></html>"
		return answerRaw(200, "text/html", []byte(page))
	default:
		return of
	}
}

// transportError returns the error that a caller of RoundTrip gets; nil if an answer arrives, even half of one.
func (f *Fault) transportError() error {
	if f == nil {
		return nil
	}
	switch f.Kind {
	case FaultReset:
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case FaultLost:
		return io.ErrUnexpectedEOF
	case FaultUnsent:
		return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	default:
		return nil
	}
}

func withHeader(h map[string]string, name, value string) map[string]string {
	if h == nil {
		h = map[string]string{}
	}
	h[name] = value
	return h
}
