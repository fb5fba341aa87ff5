package deadline

// Which tests are at work, as the stacks of all goroutines tell: so none has to register, and none can forget to.

import (
	"bytes"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
)

// A goroutine is one as the runtime prints it.
type goroutine struct {
	text   string
	calls  []string // the functions, the innermost first
	parent string   // the goroutine that started it
}

// goroutines are all of them, by their number.
type goroutines map[string]goroutine

// readGoroutines returns the goroutines that there are.
func readGoroutines() goroutines {
	all := goroutines{}
	for text := range strings.SplitSeq(readStacks(), "\n\n") {
		head, below, _ := strings.Cut(text, "\n")
		id, _, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " ")
		g := goroutine{text: text}
		for line := range strings.Lines(below) {
			line = strings.TrimRight(line, "\n")
			if creator, isCreator := strings.CutPrefix(line, "created by "); isCreator {
				_, g.parent, _ = strings.Cut(creator, " in goroutine ")
			} else if end := strings.LastIndexByte(line, '('); end > 0 && line[0] != '\t' {
				g.calls = append(g.calls, line[:end])
			}
		}
		all[id] = g
	}
	return all
}

// readStacks returns the stacks of all goroutines.
func readStacks() string {
	for size := 1 << 20; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size {
			return string(text[:n])
		}
	}
}

// Where testing has its own goroutine for a test, and where a test waits for others: for its subtests, or for its turn.
var (
	runners = []string{"testing.tRunner", "testing.fRunner"}
	waits   = []string{"testing.(*T).Run", "testing.(*T).Parallel", "testing.(*F).Fuzz", "testing/synctest.Test"}
)

// isAtWork reports whether g runs a test that does not wait for subtests or for its turn.
func (g goroutine) isAtWork() bool {
	return slices.ContainsFunc(g.calls, func(call string) bool { return slices.Contains(runners, call) }) &&
		!slices.ContainsFunc(g.calls, func(call string) bool { return slices.Contains(waits, call) }) &&
		!strings.HasPrefix(g.calls[0], "testing.") // it waits for parallel subtests when its function is over
}

// pathOf returns which test a goroutine runs: the function of the test, of its subtest, and so on.
func (all goroutines) pathOf(id string) string {
	var path []string
	for ; id != ""; id = all[id].parent {
		calls := all[id].calls
		at := slices.IndexFunc(calls, func(call string) bool { return slices.Contains(runners, call) })
		if at < 1 {
			continue
		}
		name := calls[at-1][strings.LastIndexByte(calls[at-1], '/')+1:]
		if pkg, function, _ := strings.Cut(name, "."); pkg != "testing" {
			path = append(path, function)
		} else if slices.Contains(calls, "testing.(*common).runCleanup") {
			path = append(path, "(a cleanup)")
		}
	}
	slices.Reverse(path)
	return strings.Join(path, " ")
}

// Addresses tell a reader nothing.
var addresses = regexp.MustCompile(`(?m)^#\t0x[0-9a-f]+|( @| 0x[0-9a-f]+|\+0x[0-9a-f]+)+`)

// groupGoroutines returns the stacks of all goroutines, those in the same place together.
func groupGoroutines() string {
	var text bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&text, 1) // a buffer takes all
	return addresses.ReplaceAllString(text.String(), "")
}
