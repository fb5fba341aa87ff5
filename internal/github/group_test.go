package github

import (
	"errors"
	"strings"
	"testing"
)

func TestAPanicInOneReadEndsTheLookOnly(t *testing.T) {
	g, ctx := newGroup(t.Context())
	g.Go(func() error { panic("a mistake") })
	g.Go(func() error { <-ctx.Done(); return nil })
	err := g.Wait()
	var mistake interface{ Stack() string }
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "a mistake") || !strings.Contains(mistake.Stack(), "group_test.go") {
		t.Errorf("it came to %v", err)
	}
}
