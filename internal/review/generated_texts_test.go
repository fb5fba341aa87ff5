package review

// This test reads texts that a generator writes: every way to approve and to object, in the frames in which reviewers
// write, and approvals with one veto added. It is the measure of the reader, for nobody can list all texts; each class is
// counted by itself.

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

var (
	generatedTexts = flag.Int("texts", 5000, "number of texts to generate")
	generatorSeed  = flag.Uint64("texts-seed", 1, "the generator's seed")
)

// expectation is how a generated text may be read.
type expectation uint8

const (
	mustApprove expectation = 1 + iota
	mustNotApprove
	mustObject
)

func (e expectation) isMetBy(o quorum.Outcome) bool {
	switch e {
	case mustApprove:
		return o == quorum.Approved
	case mustObject:
		return o == quorum.Findings
	case mustNotApprove:
		return o != quorum.Approved
	}
	return false
}

// A generatedText is a text with its reviewer, its class and how it may be read.
type generatedText struct {
	class    string
	reviewer quorum.Reviewer
	material Material
	want     expectation
}

// A writer writes texts from its random source.
type writer struct {
	rnd     *rand.Rand
	presets []presetTexts
	planted []plantedSentence
	added   string // what the newest text has besides its frame and what it approves or objects by
}

func newWriter(t *testing.T, seed uint64) *writer {
	return &writer{rnd: rand.New(rand.NewPCG(seed, 19)), presets: listPresetTexts(), planted: plantedSentences(t)}
}

func pickOne[T any](w *writer, all []T) T { return all[w.rnd.IntN(len(all))] }

// oneIn reports true once in n times.
func (w *writer) oneIn(n int) bool { return w.rnd.IntN(n) == 0 }

// number returns a number from 1 to most.
func (w *writer) number(most int) int { return 1 + w.rnd.IntN(most) }

// write returns the i-th text: a third each approve, object and are approvals with a veto, which come in more classes.
func (w *writer) write(i int) generatedText {
	w.added = ""
	switch i % 4 {
	case 0:
		return w.writeApproval()
	case 1:
		return w.writeObjection()
	}
	return w.writeVetoed()
}

// classCount counts the texts of a class.
type classCount struct {
	n, wrong int
	examples []string
}

func TestGeneratedTexts(t *testing.T) {
	w := newWriter(t, *generatorSeed)
	counts := map[string]*classCount{}
	wrong := 0
	for i := range *generatedTexts {
		text := w.write(i)
		c := counts[text.class]
		if c == nil {
			c = &classCount{}
			counts[text.class] = c
		}
		c.n++
		got := Read(text.reviewer, text.material)
		if text.want.isMetBy(got.Outcome) {
			continue
		}
		wrong++
		c.wrong++
		if len(c.examples) < 3 {
			c.examples = append(c.examples, fmt.Sprintf("added: %q\n%s, %v %s: %v (%s: %q, rule %q)\n%s", w.added, text.reviewer.Name, text.material.Kind,
				text.material.State, got.Outcome, got.Reason, got.Detail, got.Rule, text.material.Body))
		}
	}
	t.Logf("seed %d, %d texts, %d classes, %d read wrong", *generatorSeed, *generatedTexts, len(counts), wrong)
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := counts[name]
		t.Logf("%7d %5d wrong  %s", c.n, c.wrong, name)
		for _, e := range c.examples {
			t.Errorf("%s:\n%s\n----", name, e)
		}
	}
}
