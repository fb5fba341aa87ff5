package config

import "github.com/review-coordinator/coordinator/internal/pathfilter"

// Match reports whether path matches one of GitHub's filter patterns; see [pathfilter.Patterns] for lists.
func Match(pattern, path string) bool { return pathfilter.Match(pattern, path) }
