package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

// Run prints the version.
func (cmd versionCmd) Run(c *command) error {
	if cmd.JSON {
		return c.writeJSON(map[string]string{
			"version": buildVersion(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		})
	}
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
	if commit := buildCommit(); commit != "" {
		return "devel-" + commit[:12]
	}
	return "devel"
}

// buildCommit returns the commit that the program was built of; "" if that is not known.
func buildCommit() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) == 40 {
				return s.Value
			}
		}
	}
	return ""
}

// versionLine is one line for a bug report: the version, Go's version and the platform.
func versionLine() string {
	return fmt.Sprintf("coordinator %s %s %s/%s", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
