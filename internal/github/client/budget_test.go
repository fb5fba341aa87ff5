package client

import (
	"fmt"
	"testing"
	"time"
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

// A backlog gets what is left over: of an hour that nobody else uses all but what is kept, a twentieth at once and the rest
// as the hour passes; of one that is used up nothing. Until the end a part is kept for what happens in its last minutes.
func TestWhatAnHourLeavesToTheBacklog(t *testing.T) {
	end := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		left, requests int
		ready          time.Duration // before the hour's end
	}{
		"a new hour":            {5000, 224, time.Hour},
		"all but the last part": {5000, 4125, 0},
		"half of it used":       {2758, 0, 28*time.Minute + 58*time.Second},
		"as much as is left":    {2758, 1883, 0},
		"one more":              {2758, 1884, 0},
		"half of the next one":  {516, 224 + 1950, -30 * time.Minute},
		"nothing left":          {516, 1, 0},
		"below the reserve":     {10, 1, 0},
		"of three hours":        {516, 2 * 4125, -2 * time.Hour},
	} {
		b := Budget{Left: tt.left, Limit: 5000, Reset: end}
		if got := end.Sub(b.LeavesOver(tt.requests, end)); (got - tt.ready).Abs() > 30*time.Second {
			t.Errorf("%s: ready %s before the end, want %s", name, got, tt.ready)
		}
	}
}
