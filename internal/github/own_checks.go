package github

import (
	"crypto/sha256"
	"regexp"
	"strconv"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// ownCheck is a check run of ours with what it says.
type ownCheck struct {
	quorum.CheckRun
	annotations int
}

// written is a check run of ours as it is remembered: of its words, which are long, only whether others are the same.
type written struct {
	id          int64
	name        string
	external    string
	status      string
	conclusion  string
	url         string
	annotations int
	words       words
}

// words stand for what a check says, as it comes back from GitHub.
type words struct {
	title, summary untrusted.Digest
	text, stamp    untrusted.Digest // stamp is which look the text is of, and where it says so
}

func wordsOf(title, summary, text string) words {
	rest, stamp := unstamped(text)
	return words{title: sha256.Sum256([]byte(title)), summary: untrusted.DigestOf(summary), text: sha256.Sum256([]byte(rest)), stamp: sha256.Sum256([]byte(stamp))}
}

func (o ownCheck) written() written {
	return written{
		id: o.ID, name: o.Name, external: o.ExternalID, status: o.Status, conclusion: o.Conclusion, url: o.URL,
		annotations: o.annotations, words: wordsOf(o.Title, o.Summary, o.Text),
	}
}

// reads reports whether a check of ours reads as c already; stamped: as of the same look, too.
func (o written) reads(c report.Check, stamped bool) bool {
	says := wordsOf(c.Title, c.Summary, c.Text)
	if !stamped {
		says.stamp = o.words.stamp
	}
	return o.status == c.Status && o.conclusion == c.Conclusion && o.words == says
}

// sameText reports whether two texts are the same, and of the same look.
func (w words) sameText(x words) bool { return w.text == x.text && w.stamp == x.stamp }

// stamp is which look a text is of: the one thing in it that nobody reads. Only the record, which stands first, has it.
var stamp = regexp.MustCompile(`"seen":\{"at":"[^"]*"(?:,"threads":"[01]*")?\},`)

// unstamped is what a text says, whichever look it is of, and the stamp with its place: both tell texts apart as the whole
// does.
func unstamped(s string) (rest, seen string) {
	s = untrusted.Normalize(s)
	if at := stamp.FindStringIndex(s); at != nil {
		return s[:at[0]] + s[at[1]:], strconv.Itoa(at[0]) + " " + s[at[0]:at[1]]
	}
	return s, ""
}
