package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// organisationMemory is which policies of organisations the table knows: one that is hidden since is none that never was.
// It may be used by several goroutines.
type organisationMemory struct {
	mu       sync.Mutex
	byTenant map[int64]map[string]string // blobs by owner; a tenant whose rows were not read is not there
}

// rowsForOrganisations is how many of a tenant's repositories are asked, those that were looked over last.
const rowsForOrganisations = 1000

// tellForge tells a tenant's forge what the table knows, before it looks.
func (m *organisationMemory) tellForge(ctx context.Context, table store.Store, tenant int64, forge TenantForge) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, isRead := m.byTenant[tenant]
	if !isRead {
		rows, err := table.List(ctx, store.Query{Tenant: &tenant, Kind: workkey.KindRepo, Limit: rowsForOrganisations})
		if err != nil {
			return fmt.Errorf("read which policy an organisation had: %w: %w", errTable, err)
		}
		known = organisationsIn(rows)
		if m.byTenant == nil {
			m.byTenant = map[int64]map[string]string{}
		}
		m.byTenant[tenant] = known
	}
	for owner, sha := range known {
		forge.RememberOrganisation(owner, sha)
	}
	return nil
}

// forgetTenant has a tenant's rows read again.
func (m *organisationMemory) forgetTenant(tenant int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byTenant, tenant)
}

// organisationsIn returns the blobs of organisations' policies, by owner, that repositories' rows name, newest first.
func organisationsIn(rows []store.Row) map[string]string {
	known := map[string]string{}
	for _, row := range rows {
		var sight dashboard.RepoSight
		p, ok := workkey.Parse(row.Key)
		if !ok || json.Unmarshal(row.Sight, &sight) != nil {
			continue
		}
		if _, sha, hasOrganisation := strings.Cut(sight.Policy, "+"); hasOrganisation && known[p.Owner] == "" {
			known[p.Owner] = sha
		}
	}
	return known
}
