package github

import "errors"

// moved is an observation that GitHub changed while it was made.
type moved struct{ what string }

func (m moved) Error() string { return m.what + " while it was read" }

func (m moved) Temporary() bool { return true }

// IsMoved says that GitHub changed while it was read, or that its replicas do not agree yet.
func IsMoved(err error) bool {
	var m moved
	return errors.As(err, &m)
}
