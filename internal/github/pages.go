package github

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

// newsFlag notes whether any answer of a look was new.
type newsFlag struct {
	mu  sync.Mutex
	any bool
}

func (c *newsFlag) note(changed bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.any = c.any || changed
}

// maxPages bounds a list: a hundred pages of a hundred are more than any of GitHub's own caps.
const maxPages = 100

// readPages reads all pages of a list. key names the array within an object; "" is a bare array.
func readPages[T any](ctx context.Context, c *client.Client, seen *newsFlag, path, key string, each ...func(*T)) (all []T, err error) {
	for range maxPages {
		page, answer, err := readPage[T](ctx, c, path, key)
		if err != nil {
			return nil, err
		}
		seen.note(answer.Changed)
		for i := range page {
			for _, f := range each {
				f(&page[i])
			}
		}
		all = append(all, page...)
		if answer.Next == "" {
			return all, nil
		}
		path = answer.Next
	}
	return nil, fmt.Errorf("read %s: more than %d pages", path, maxPages)
}

// readPage reads a page of a list. The long lists are read in one go; their arrays have names of their own.
func readPage[T any](ctx context.Context, c *client.Client, path, key string) (page []T, answer client.Response, err error) {
	var within struct {
		Checks *[]T `json:"check_runs"`
		Runs   *[]T `json:"workflow_runs"`
	}
	var other map[string]json.RawMessage
	found := &page
	switch key {
	case "":
		answer, err = c.Get(ctx, path, &page)
	case "check_runs":
		answer, err = c.Get(ctx, path, &within)
		found = within.Checks
	case "workflow_runs":
		answer, err = c.Get(ctx, path, &within)
		found = within.Runs
	default:
		if answer, err = c.Get(ctx, path, &other); err != nil {
			break
		}
		if raw, there := other[key]; !there {
			found = nil
		} else if json.Unmarshal(raw, &page) != nil {
			err = fmt.Errorf("read %s: %w", path, client.ErrTransport)
		}
	}
	switch {
	case err != nil:
		return nil, answer, err
	case found == nil:
		return nil, answer, fmt.Errorf("read %s: the answer has no %q: %w", path, key, client.ErrTransport)
	}
	return *found, answer, nil
}
