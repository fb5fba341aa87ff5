package main

import (
	"fmt"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(c *command) error {
	_, err := fmt.Fprintln(c.Stdout, versionLine())
	return err
}

// release is the version of a release, set at build time (-ldflags "-X main.release=v1.2.3"): the builds have no VCS
// stamp, so that they are the same on every machine.
var release string

// buildVersion names the build: the release, else the module's version, else the commit.
func buildVersion() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
