package sandbox

import "sync"

// A lock is taken and freed in one line.
type lock struct{ sync.Mutex }

// held takes the lock; what it returns frees it: defer l.held()().
func (l *lock) held() (free func()) {
	l.Lock()
	return l.Unlock
}
