package main

// From where the keys of a policy come, in words.

import (
	"fmt"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// describeOrigins says from where the keys of a policy come, a line each source; "" where no organisation's is known.
func describeOrigins(origins []quorum.Origin) string {
	var b strings.Builder
	for _, source := range []struct {
		from quorum.KeySource
		says string
	}{
		{quorum.FromEnforce, "The organisation enforces"},
		{quorum.FromOrganisation, "From the organisation's policy"},
		{quorum.FromRepository, "From the repository's policy"},
	} {
		var keys []string
		for _, o := range origins {
			if o.From == source.from {
				keys = append(keys, oneLine(o.Key))
			}
		}
		if len(keys) > 0 {
			fmt.Fprintf(&b, "%s: %s.\n", source.says, strings.Join(keys, ", "))
		}
	}
	if b.Len() > 0 {
		b.WriteString("All else is as by default.\n")
	}
	return b.String()
}
