package review

// This file hands out the presets: the reviewers of vendors that the coordinator knows.

import (
	"regexp"
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A preset is a vendor's file, ready to be used.
type preset struct {
	vendorFile
	reviewer quorum.Reviewer
	shapes   compiledShapes
	wordless []shape
	commits  []func() *regexp.Regexp

	introduces []shape
	badges     []compiledBadge
}

// noPreset is the preset of a reviewer that the coordinator does not know.
var noPreset = &preset{}

func presetOf(name string) *preset {
	if load := presets[name]; load != nil {
		return load()
	}
	return noPreset
}

// Preset returns the reviewer that name stands for, with everything that a policy may override.
func Preset(name string) (r quorum.Reviewer, known bool) {
	p := presetOf(name)
	if p == noPreset {
		return r, false
	}
	r = p.reviewer
	r.Events, r.Obeys, r.Guard = slices.Clone(r.Events), slices.Clone(r.Obeys), slices.Clone(r.Guard)
	return r, true
}

// PresetsOf returns the reviewers of presets of one family.
func PresetsOf(family string) (all []quorum.Reviewer) {
	for _, name := range Presets() {
		if p := presetOf(name); family != "" && p.Family == family {
			all = append(all, p.reviewer)
		}
	}
	return all
}

// PresetNote returns one line about a preset: its verdict format and what it posts.
func PresetNote(name string) string { return presetOf(name).Note }

// NeedsWorkflow reports whether a preset is a workflow, whose path the policy must name.
func NeedsWorkflow(name string) bool { return presetOf(name).Workflow }

// IsScanner reports whether a preset applies rules and has a gate: what it lets pass nobody has reviewed.
func IsScanner(name string) bool { return presetOf(name).Scanner }
