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

// organisationTeller tells the forges of tenants, before they look, which policies of organisations the table knows: one that is
// hidden since is none that never was. It may be used by several goroutines.
type organisationTeller struct {
	told sync.Map // by tenant, what tells its forge once
}

// rowsForOrganisations is how many of a tenant's repositories are asked, those that were looked over last.
const rowsForOrganisations = 1000

// tellForge tells a tenant's forge, once. Looks that come meanwhile wait until it is told.
func (o *organisationTeller) tellForge(ctx context.Context, table store.Store, tenant int64, forge TenantForge) error {
	kept, _ := o.told.LoadOrStore(tenant, sync.OnceValue(func() error {
		rows, err := table.List(ctx, store.Query{Tenant: &tenant, Kind: workkey.KindRepo, Limit: rowsForOrganisations})
		if err != nil {
			return fmt.Errorf("read which policy an organisation had: %w: %w", errTable, err)
		}
		for owner, file := range organisationsIn(rows) {
			forge.RememberOrganisation(owner, file)
		}
		return nil
	}))
	tell, _ := kept.(func() error)
	err := tell()
	if err != nil {
		o.forgetTenant(tenant)
	}
	return err
}

// forgetTenant has a tenant's rows read again.
func (o *organisationTeller) forgetTenant(tenant int64) { o.told.Delete(tenant) }

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
