package github

// The App as which a forge writes, and which check runs are its own.

import (
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// An appIdentity is the App as which a forge writes. A new name changes an App's slug, everywhere at once, and never
// its id.
type appIdentity interface {
	id() int64 // 0 where only the slug is known
	KnownSlug() string
	NoteSlug(slug string)
}

// fixedApp is an App of which only the slug is known, as GitHub told it when the program began.
type fixedApp string

func (fixedApp) id() int64           { return 0 }
func (a fixedApp) KnownSlug() string { return string(a) }
func (fixedApp) NoteSlug(string)     {}

// ownApp is the App of which the client has the key.
type ownApp struct {
	number int64

	mu   sync.Mutex
	slug string
}

func (a *ownApp) id() int64 { return a.number }

func (a *ownApp) KnownSlug() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.slug
}

func (a *ownApp) NoteSlug(slug string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.slug = slug
}

// pooledApp is the App of a server.
type pooledApp struct{ *client.Pool }

func (a pooledApp) id() int64 { return a.AppID() }

// isOwnCheck reports whether a check run is one of ours, whatever its name. The repository may have had another one,
// too.
func isOwnCheck(app appIdentity, pr quorum.PR, c quorum.CheckRun) bool {
	return isByApp(app, c) && strings.HasPrefix(c.ExternalID, strings.TrimSuffix(report.ExternalID(pr), pr.String()))
}

// isByApp reports whether a check run is of an App.
func isByApp(app appIdentity, c quorum.CheckRun) bool {
	if id := app.id(); id != 0 {
		return c.AppID == id
	}
	return c.App == app.KnownSlug()
}
