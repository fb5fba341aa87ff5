package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// rowsForOrganisations is how many of a tenant's repositories are asked, those that were looked over last.
const rowsForOrganisations = 1000

// tellForge has a tenant's forge know, before it looks, which policies of organisations the table knows: one that is hidden since is
// none that never was. Looks that come meanwhile wait until it does.
func (b *tenantBook) tellForge(ctx context.Context, tenant int64, forge TenantForge) error {
	t := b.open(tenant)
	if t.tell == nil {
		t.tell = sync.OnceValue(func() error {
			rows, err := b.config.Store.List(ctx, store.Query{Tenant: &tenant, Kind: workkey.KindRepo, Limit: rowsForOrganisations})
			if err != nil {
				b.open(tenant).tell = nil
				b.mu.Unlock()
				return fmt.Errorf("read which policy an organisation had: %w: %w", errTable, err)
			}
			for owner, file := range organisationsIn(rows) {
				forge.RememberOrganisation(owner, file)
			}
			return nil
		})
	}
	tell := t.tell
	b.mu.Unlock()
	return tell()
}

// organisationsIn returns the policies of organisations, by owner, that repositories' rows name, newest first.
func organisationsIn(rows []store.Row) map[string]quorum.OrganisationFile {
	known := map[string]quorum.OrganisationFile{}
	for _, row := range rows {
		var sight dashboard.RepoSight
		p, ok := workkey.Parse(row.Key)
		if !ok || json.Unmarshal(row.Sight, &sight) != nil {
			continue
		}
		_, sha, hasOrganisation := strings.Cut(sight.Policy, "+")
		if _, isKnown := known[p.Owner]; hasOrganisation && !isKnown {
			known[p.Owner] = quorum.OrganisationFile{Repo: sight.Organisation, SHA: sha}
		}
	}
	return known
}
