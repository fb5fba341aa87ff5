package config

import "github.com/review-coordinator/coordinator/internal/quorum"

// Match reports whether path matches one of GitHub's filter patterns; see [quorum.Filters] for lists.
func Match(pattern, path string) bool { return quorum.Match(pattern, path) }
