package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
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

// The entries that a page of a list is asked for. A comment takes 262,144 bytes, so that a full page of them is longer
// than is read, and so may be ten. Source: https://github.com/dead-claudia/github-limits, 13.
const (
	fullPage  = 100
	shortPage = 10
)

// errNoEnd is in the chain of an error about a list that is longer than is read.
var errNoEnd = fmt.Errorf("has more than %d entries", maxPages*fullPage)

// listPath is where a list's page begins that holds the entry of an index.
func listPath(path string, size, index int) (string, error) {
	u, err := url.Parse(path)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("per_page", strconv.Itoa(size))
	q.Del("page")
	if page := index/size + 1; page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// readPages reads all pages of a list, whose path asks for full ones. key names the array within an object; "" is a
// bare array.
func readPages[T any](
	ctx context.Context, c *client.Client, seen *newsFlag, path, key string, each ...func(*T),
) (all []T, err error) {
	var size int
	return readSizedPages(ctx, c, seen, &size, path, key, each...)
}

// readSizedPages is [readPages] with the size at which it begins, 0 for full pages. From a page on that is too long it
// reads shorter ones, and leaves their size for the next time.
func readSizedPages[T any](
	ctx context.Context, c *client.Client, seen *newsFlag, size *int, path, key string, each ...func(*T),
) (all []T, err error) {
	first := path
	if *size == 0 {
		*size = fullPage
	}
	if *size < fullPage {
		if path, err = listPath(first, *size, 0); err != nil {
			return nil, err
		}
	}
	for len(all) < maxPages*fullPage {
		page, answer, err := readPage[T](ctx, c, path, key, *size < fullPage)
		if errors.Is(err, client.ErrTooLong) && *size > 1 {
			*size = max(min(*size, fullPage)/shortPage, 1)
			if path, err = listPath(first, *size, len(all)); err != nil {
				return nil, err
			}
			continue
		}
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
	return nil, fmt.Errorf("read %s: it %w", path, errNoEnd)
}

// readPage reads a page of a list.
func readPage[T any](
	ctx context.Context, c *client.Client, path, key string, passing bool,
) (page []T, answer client.Response, err error) {
	if key == "" {
		answer, err = c.GetPage(ctx, path, passing, &page)
		return page, answer, err
	}
	var within map[string]json.RawMessage
	if answer, err = c.GetPage(ctx, path, passing, &within); err != nil {
		return nil, answer, err
	}
	if list := within[key]; json.Unmarshal(list, &page) != nil || page == nil {
		return nil, answer, fmt.Errorf("read %s: the answer has no %q: %w", path, key, client.ErrTransport)
	}
	return page, answer, nil
}
