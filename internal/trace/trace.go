// Package trace promises that a program built with the tag otel tells an OpenTelemetry collector what the daemon does, and
// that any other does not know OpenTelemetry: there every function here does nothing. The action's program never does.
//
// What a span says is a [Fact]: a number, or a word of the program's own. There is no way to give it a text, and so no
// secret, no header, no error and nothing that a stranger wrote gets into one. A span says whose installation it is of, and
// neither repository nor pull request: the log has those, at the same time.
//
// It is in the program's module, and not in one of its own: measured, that adds seventeen lines to go.mod, and only a build
// with the tag downloads or links what they name. A second module could not reach what is internal without a copy of main.
package trace

import "time"

// A Fact is what a span says. The functions below make all that there are.
type Fact struct {
	key    string
	word   string
	number int64
}

// Installation says whose work it is: the ID of an App's installation, or 0.
func Installation(id int64) Fact { return Fact{key: "coordinator.installation", number: id} }

// Status says what an HTTP request was answered with; 0: there was no answer.
func Status(code int) Fact { return Fact{key: "http.response.status_code", number: int64(code)} }

// Count says how many.
func Count(n int) Fact { return Fact{key: "coordinator.count", number: int64(n)} }

// Event says which event of GitHub's it is about.
func Event(name string) Fact { return wordFact("coordinator.event", name) }

// Result says what it came to, as the metrics call it.
func Result(name string) Fact { return wordFact("coordinator.result", name) }

// Task says what is worked on, as the metrics call it.
func Task(name string) Fact { return wordFact("coordinator.task", name) }

// Endpoint says what GitHub was asked, as the template of a path.
func Endpoint(template string) Fact { return wordFact("coordinator.endpoint", template) }

// longestWord is longer than any template of a path, and shorter than most that somebody writes.
const longestWord = 100

// wordFact makes a fact of a word of the program's. The callers take it from a list; should one not, then what is no name
// and no template of a path is left out here.
func wordFact(key, word string) Fact {
	if word == "" || len(word) > longestWord {
		return Fact{key: key, word: "other"}
	}
	for _, r := range word {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		case r == '_', r == '-', r == '/', r == '{', r == '}', r == '.', r == ' ':
		default:
			return Fact{key: key, word: "other"}
		}
	}
	return Fact{key: key, word: word}
}

// A Name is what a span is called.
type Name string

// What the daemon does.
const (
	Webhook Name = "webhook" // a request of GitHub's, from its headers to our answer
	Look    Name = "look"    // work on a key of the table
	GitHub  Name = "github"  // an attempt of a request to GitHub
	Store   Name = "store"   // a call of the table
)

// StopTimeout is how long the last spans may take to get away when the daemon stops.
const StopTimeout = time.Second
