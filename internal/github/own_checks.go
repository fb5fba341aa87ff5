package github

import (
	"cmp"
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// ownCheck is a check run of ours with what it says.
type ownCheck struct {
	quorum.CheckRun
	annotations int
}

func newestCheckFirst(a, b ownCheck) int { return cmp.Compare(b.ID, a.ID) }

// writtenCheck is a check run of ours as it is remembered: of its words, which are long, only their digests.
type writtenCheck struct {
	id          int64
	name        string
	external    string
	status      string
	conclusion  string
	url         string
	annotations int
	digests     checkDigests
}

func (o writtenCheck) isGreen() bool { return o.status == "completed" && o.conclusion == "success" }

// isOpenOrGreen reports whether a check of ours must be ended where it is no pull request's any more.
func (o writtenCheck) isOpenOrGreen() bool { return o.status != "completed" || o.isGreen() }

// checkDigests stand for the words of a check, as they come back from GitHub.
type checkDigests struct {
	title, summary untrusted.Digest
	text, stamp    untrusted.Digest // stamp is which look the text is of, and where it says so
}

func digestsOf(title, summary, text string) checkDigests {
	rest, stamp := splitStamp(text)
	return checkDigests{
		title:   sha256.Sum256([]byte(title)),
		summary: untrusted.DigestOf(summary),
		text:    sha256.Sum256([]byte(rest)),
		stamp:   sha256.Sum256([]byte(stamp)),
	}
}

// isOfOurs reports whether a check with that external id is ours: own is that of a pull request of the repository. Pull
// requests of one head share a check, which was made for any of them.
func isOfOurs(external, own string) bool {
	repository := own[:strings.LastIndexByte(own, '#')+1]
	return repository != "" && strings.HasPrefix(external, repository)
}

func (o ownCheck) asWritten() writtenCheck {
	return writtenCheck{
		id: o.ID, name: o.Name, external: o.ExternalID, status: o.Status, conclusion: o.Conclusion, url: o.URL,
		annotations: o.annotations, digests: digestsOf(o.Title, o.Summary, o.Text),
	}
}

// readsAs reports whether a check of ours reads as c already; stamped: as of the same look, too.
func (o writtenCheck) readsAs(c report.Check, stamped bool) bool {
	says := digestsOf(c.Title, c.Summary, c.Text)
	if !stamped {
		says.stamp = o.digests.stamp
	}
	return o.status == c.Status && o.conclusion == c.Conclusion && o.digests == says
}

// sameText reports whether two texts are the same, and of the same look.
func (w checkDigests) sameText(x checkDigests) bool { return w.text == x.text && w.stamp == x.stamp }

// lookStamp matches the part of a text that says of which look it is: no reader of the check needs it. Only the record,
// which stands first, has it.
var lookStamp = lazy.Regexp(`"seen":\{"at":"[^"]*"(?:,"threads":"[01]*")?\},`)

// splitStamp parts a text into what it says, whichever look it is of, and its stamp with the stamp's place: both
// together tell texts apart as the whole does.
func splitStamp(s string) (rest, seen string) {
	s = untrusted.Normalize(s)
	if at := lookStamp().FindStringIndex(s); at != nil {
		return s[:at[0]] + s[at[1]:], strconv.Itoa(at[0]) + " " + s[at[0]:at[1]]
	}
	return s, ""
}
