package trace

import (
	"strings"
	"testing"
)

// What is no word of the program's is not told: a slip of a caller leaks nothing.
func TestATextBecomesNoFact(t *testing.T) {
	for _, text := range []string{
		"", "a\nb", "octo/shop: fix the login", "Bearer ghs_x=", "https://example.com/?token=1", strings.Repeat("a", longestWord+1), "naïve",
	} {
		for _, fact := range []Fact{Event(text), Result(text), Task(text), Endpoint(text)} {
			if fact.word != "other" {
				t.Errorf("%q becomes %+v", text, fact)
			}
		}
	}
	for _, word := range []string{"pull_request", "ok", "GET /repos/{owner}/{repo}/pulls/{pull_number}", "POST /graphql"} {
		if fact := Endpoint(word); fact.word != word {
			t.Errorf("%q becomes %+v", word, fact)
		}
	}
}
