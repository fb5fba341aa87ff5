package client

import (
	"fmt"
	"testing"
)

func TestBudgetOfTheLastAnswer(t *testing.T) {
	w := follows()
	c := w.client(t)
	answer := func(headers ...string) {
		t.Helper()
		w.mu.Lock()
		w.script = []said{{status: 200, body: `{"n":1}`, header: headers}}
		w.mu.Unlock()
		if _, _, err := get(t, c); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(resource string, left, limit, reset int) {
		t.Helper()
		var headers []string
		for k, v := range map[string]any{
			"X-RateLimit-Resource": resource, "X-RateLimit-Remaining": left, "X-RateLimit-Limit": limit, "X-RateLimit-Reset": reset,
		} {
			headers = append(headers, fmt.Sprint(k, ": ", v))
		}
		answer(headers...)
	}
	wants := func(what string, left, limit int) {
		t.Helper()
		if b := c.Budget(); b.Left != left || b.Limit != limit {
			t.Errorf("%s: %d of %d are left, want %d of %d", what, b.Left, b.Limit, left, limit)
		}
	}
	wants("nothing was said", 0, 0)
	answer("X-RateLimit-Remaining: many", "X-RateLimit-Limit: 0")
	wants("nothing that can be read was said", 0, 0)
	hear("core", 900, 1000, 60)
	hear("graphql", 990, 1000, 60)
	wants("the smaller part counts", 900, 1000)
	hear("core", 950, 1000, 60)
	wants("an answer that was overtaken", 900, 1000)
	hear("core", 1000, 1000, 120)
	wants("the next hour", 990, 1000)
	hear("core", 3, 1000, 60)
	wants("an answer of the last hour", 990, 1000)
	hear("graphql", 100, 5000, 60)
	wants("another limit", 100, 5000)
}
