package review

// This test proves that an expression matches no line that its groups of letters rule out.

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestNeededGramsRuleOutNoMatch(t *testing.T) {
	all := map[string]func() *wordedRegexp{
		"openLabel": openLabel, "noteLabel": noteLabel, "gradeLabel": gradeLabel, "graveGrade": graveGrade, "answerLabel": answerLabel,
		"deniedAnswer": deniedAnswer, "conditionClause": conditionClause, "contrast": contrast, "reservedClause": reservedClause,
		"conditionInside": conditionInside, "verdictWords": verdictWords, "repeatedYes": repeatedYes, "retractingWords": retractingWords,
		"limitedWords": limitedWords, "stepWords": stepWords, "needWords": needWords, "denial": denial, "request": request,
		"troubleLeft": troubleLeft, "trouble": trouble, "settledTrouble": settledTrouble, "unseenPart": unseenPart, "praise": praise,
		"retraction": retraction, "partSeen": partSeen, "asideName": asideName, "ownLabel": ownLabel, "currentName": currentName,
		"settledWords": settledWords, "someFound": someFound, "nothingHere": nothingHere, "filesRead": filesRead, "troubleName": troubleName,
		"openCount": openCount, "pleasantWords": pleasantWords, "unpleasantWords": unpleasantWords,
		"settledCount": settledCount, "describingSection": describingSection, "overallSection": overallSection,
	}
	for i := range unread {
		all["unread "+string(rune('0'+i))] = unread[i].expr
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, load := range all {
		w := load()
		parsed, err := syntax.Parse(w.expr().String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		matched := 0
		for range 3000 {
			line := randomMatch(rnd, parsed.Simplify())
			for _, line := range []string{line, "so " + line, line + ", then", strings.ReplaceAll(line, " ", "  ")} {
				if w.expr().MatchString(line) {
					if matched++; !w.mayMatch(line) {
						t.Fatalf("%s matches %q, which its groups rule out", name, line)
					}
				}
			}
		}
		if matched < 1000 {
			t.Errorf("%s: only %d lines of it match", name, matched)
		}
	}
}

// randomMatch returns a text that an expression may match: what is around it is not looked at.
func randomMatch(rnd *rand.Rand, re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		i := 2 * rnd.IntN(len(re.Rune)/2)
		return string(re.Rune[i] + rnd.Int32N(min(re.Rune[i+1]-re.Rune[i], 100)+1))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string("a .z"[rnd.IntN(4)])
	case syntax.OpCapture:
		return randomMatch(rnd, re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		least, most := 0, 3
		switch re.Op {
		case syntax.OpPlus:
			least = 1
		case syntax.OpQuest:
			most = 1
		}
		return strings.Repeat(randomMatch(rnd, re.Sub[0]), least+rnd.IntN(most-least+1))
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(randomMatch(rnd, sub))
		}
		return b.String()
	case syntax.OpAlternate:
		return randomMatch(rnd, re.Sub[rnd.IntN(len(re.Sub))])
	}
	return ""
}
