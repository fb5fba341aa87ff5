package github

import "errors"

// ErrMoved is in the chain of an error after which a look must be taken again: GitHub changed while it was read, or its
// replicas do not agree yet.
var ErrMoved = errors.New("it moved while it was read")

// moved is an observation that GitHub changed while it was made.
type moved struct{ what string }

func (m moved) Error() string { return m.what + " while it was read" }

func (m moved) Temporary() bool { return true }

// LookAgain says that a look at once may show what has moved.
func (m moved) LookAgain() bool { return true }

func (m moved) Unwrap() error { return ErrMoved }
