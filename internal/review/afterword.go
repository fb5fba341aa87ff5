package review

// This file reads the sentences that stand below a yes, and tells whether they leave it as it is. No list holds all
// conditions, so a sentence is judged by what it speaks of: one that speaks of the verdict must say yes again, one that
// speaks of steps on the way to the merge may ask for none, one that names trouble must deny it, and one of whose words none
// is known is not understood. What describes the change or praises it speaks of none of these.

import (
	"strings"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// textWidth says how much of what a line says is read.
type textWidth uint8

const (
	listedText textWidth = 1 + iota // an item of a list, a heading, a quote: it describes, and is read only for what takes a yes back
	vendorText                      // a vendor's prose: long sentences describe
	wholeText                       // the writer's prose
	remarkText                      // a paragraph of one line, which is short as a condition is
)

const (
	longSentence = 14 // how many words a vendor's sentence has that describes
	longRemark   = 12 // how many words a paragraph has that need not praise to be no condition
)

// isDoubtful reports whether a line below a yes makes it conditional, takes it back, or is not understood.
func isDoubtful(text string, width textWidth) bool {
	words := strings.TrimLeft(plainWords(cutLinks(text)), "([\"' ")
	switch {
	case isOneOf(footers(), trimStatement(words)), settledRemark().MatchString(trimStatement(words)):
		return false
	case width > listedText && isUnknownWord(words):
		return true
	}
	if label, rest, ok := strings.Cut(words, ":"); ok && strings.Count(label, " ") < 4 {
		rest = trimStatement(rest)
		switch severity, graded := severityOfLabel(label); {
		case graded && severity == quorum.Low: // a nit
			return false
		case isDoubtfulField(label, rest), width > listedText && unseenPart().MatchString(words):
			return true
		case rest == "no" || rest == "false": // "Breaking changes: no"
			return false
		}
		words, width = rest, min(width, wholeText)
		if reasonLabel().MatchString(label + ":") { // what follows describes the change, as commits do
			width = min(width, vendorText)
		}
	}
	if width == vendorText && strings.Count(words, " ") < longSentence {
		width = wholeText
	}
	if width == remarkText && strings.Count(words, " ") < longRemark && !isPleasant(words) {
		return true
	}
	for sentence := range strings.SplitSeq(sentenceEnds().Replace(words), ". ") {
		sentence = strings.TrimLeft(trimStatement(sentence), "([\"'")
		if sentence == "" || isOneOf(footers(), sentence) {
			continue
		}
		if isDoubtfulSentence(sentence, width) {
			return true
		}
	}
	return false
}

// sentenceEnds replaces what parts two sentences by a full stop.
func sentenceEnds() *strings.Replacer {
	return strings.NewReplacer("! ", ". ", "? ", ". ", "; ", ". ", " — ", ". ", " – ", ". ", " - ", ". ")
}

// isPleasant reports whether a short paragraph praises the change or describes it, and nothing else: for it to be left out of
// account, a word must tell so. This is a list like any other: it refuses many a harmless remark, which costs a retry, and a
// defect that is told in harmless words passes.
func isPleasant(words string) bool {
	if !strings.ContainsFunc(words, unicode.IsLetter) || nothingHere().MatchString(words) {
		return true
	}
	words = strings.ReplaceAll(words, "nothing wrong", "nothing")
	return pleasantWords().MatchString(words) && !unpleasantWords().MatchString(words)
}

// isDoubtfulField reports whether a label and what stands behind it are something still open, or a no.
func isDoubtfulField(label, value string) bool {
	if value == "" || nothingHere().MatchString(value) {
		return false
	}
	if openLabel().MatchString(label) || conditionClause().MatchString(label) || retractingWords().MatchString(label) ||
		noteLabel().MatchString(label) && isUnknownWord(value) || gradeLabel().MatchString(label) && graveGrade().MatchString(value) ||
		answerLabel().MatchString(label) && deniedAnswer().MatchString(value) {
		return true
	}
	return isRejection(value)
}

// isRejection reports whether a value is a word that objects; "no" and the words of a plan may say something else.
func isRejection(value string) bool {
	for _, word := range rejectedWords {
		switch word {
		case "no", "fix", "address", "hold", "failure":
			continue
		}
		if _, ok := cutWord(value, word); ok {
			return true
		}
	}
	return false
}

// isDoubtfulSentence reports whether a sentence leaves the yes above it less than a yes.
func isDoubtfulSentence(sentence string, width textWidth) bool {
	switch {
	case conditionClause().MatchString(sentence) && (!strings.Contains(sentence, ",") || contrast().MatchString(sentence)):
		return true
	case reservedClause().MatchString(sentence), deniedAnswer().MatchString(sentence), isRejection(sentence):
		return true
	case namesTrouble(troubleLeft(), sentence):
		return true
	case width < wholeText:
		return false
	case conditionInside().MatchString(sentence), retractingWords().MatchString(sentence), limitedWords().MatchString(sentence):
		return true
	case stepWords().MatchString(sentence) && asksFor(sentence), namesTrouble(trouble(), sentence):
		return true
	case unseenPart().MatchString(sentence), isUnknownSentence(sentence):
		return true
	}
	for clause := range strings.SplitSeq(sentence, ", ") {
		if request().MatchString(clause) || verdictWords().MatchString(clause) && !repeatedYes().MatchString(clause) {
			return true
		}
	}
	return false
}

// asksFor reports whether a sentence says that something has to be done, and does not deny it.
func asksFor(sentence string) bool {
	at := needWords().FindStringIndex(sentence)
	return at != nil && !denial().MatchString(sentence[:at[0]])
}

// namesTrouble reports whether a sentence names trouble, and does not deny it or say that it is gone.
func namesTrouble(names *wordedRegexp, sentence string) bool {
	at := names.FindStringIndex(sentence)
	return at != nil && !denial().MatchString(sentence[:at[0]]) && !settledTrouble().MatchString(sentence) &&
		!nothingHere().MatchString(sentence)
}

// isUnknownWord reports whether a line is one word of which nobody knows what it says of the yes above it.
func isUnknownWord(words string) bool {
	words = strings.TrimRight(trimStatement(words), ")]\"'")
	return len(words) > 3 && !strings.ContainsFunc(words, isNoLetter) && !praise().MatchString(words)
}

// isUnknownSentence reports whether a sentence holds no word that is known, and so may be in any language.
func isUnknownSentence(sentence string) bool {
	n := 0
	for word := range strings.FieldsFuncSeq(withoutNames(sentence), isNoLetter) {
		if n++; englishWords()[word] || reviewWords()[word] {
			return false
		}
	}
	return n > 2 && !isForeign(sentence) // which has its own rule
}
