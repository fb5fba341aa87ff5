//go:build !action

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// argumentsOfHeld are those with which a command waits for something; a command that is not among them does so without.
// DIR is a folder of the command's own.
var argumentsOfHeld = map[string]string{
	"run":           "octo/shop#7",
	"sweep":         "--repo octo/shop",
	"explain":       "octo/shop#7",
	"verdict make":  "--head " + strings.Repeat("a1", 20) + " --run 1 --attempt 1 --base main",
	"verdict check": "-",
	"config check":  "-",
	"init":          "--repo octo/shop --pull-request",
	"doctor":        "octo/shop",
	"simulate":      "-",
	"serve":         "--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --database sqlite://DIR/coordinator.db",
	"serve setup":   "--webhook https://coordinator.example/webhook --dir DIR/app",
}

// Every command ends by SIGTERM, whatever it waits for, and says so by its exit code; a daemon that is told to stop ends
// well.
func TestEveryCommandEndsByASignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM to send")
	}
	names := commandNames(t)
	if len(names) < 14 {
		t.Fatalf("only %q are found", names)
	}
	for _, name := range names {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(name+" by "+sig.String(), func(t *testing.T) {
				t.Parallel()
				want := 128 + int(sig)
				if name == "serve" {
					want = 0
				}
				if got := endHeld(t, name, sig); got != want {
					t.Errorf("exit %d, want %d", got, want)
				}
			})
			if name != "run" && name != "serve" { // the rest of the way is the same for both
				break
			}
		}
	}
}

// commandLists matches what --help prints from the first list of commands on; commandLine matches a command there.
var (
	commandLists = regexp.MustCompile(`(?ms)^(?:\w+ c|C)ommands[^\n]*:$.*`)
	commandLine  = regexp.MustCompile(`(?m)^  ([a-z][a-z -]*[a-z])(?: \[?<.*?)?(?: \[flags\])?(?:$| {2,}\S)`)
)

// commandNames are the names of all commands that do something, by the lists of --help.
func commandNames(t *testing.T, above ...string) (all []string) {
	t.Helper()
	var help strings.Builder
	c := &command{Stdout: &help, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	if code := c.Main(t.Context(), append(slices.Clone(above), "--help")); code != 0 {
		t.Fatalf("%q has no help: exit %d", above, code)
	}
	name := strings.Join(above, " ")
	for _, found := range commandLine.FindAllStringSubmatch(commandLists.FindString(help.String()), -1) {
		if below := found[1]; below != name { // a command's help may list the command itself
			all = append(all, commandNames(t, strings.Fields(below)...)...)
		}
	}
	if len(all) == 0 || argumentsOfHeld[name] != "" { // it does something itself
		all = append(all, name)
	}
	return all
}

// endHeld starts a command, sends it a signal when it waits, and returns its exit code.
func endHeld(t *testing.T, name string, sig syscall.Signal) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	waits := make(chan struct{})
	tell := sync.OnceFunc(func() { close(waits) })
	silent, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		var open []net.Conn // until the test is over
		for {
			conn, err := silent.Accept()
			if err != nil {
				for _, conn := range open {
					conn.Close()
				}
				return
			}
			open = append(open, conn)
			tell()
		}
	}()
	dir, address := t.TempDir(), silent.Addr().String()
	args := append(strings.Fields(name), strings.Fields(strings.ReplaceAll(argumentsOfHeld[name], "DIR", dir))...)
	program, err := exec.LookPath("coordinator-held")
	if err != nil {
		t.Fatal(err)
	}
	said := &stopWriter{word: "the review coordinator serves", stop: tell}
	held := exec.CommandContext(ctx, program, args...)
	held.Dir, held.Stderr = dir, said
	held.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "GITHUB_TOKEN=ghp_" + strings.Repeat("x", 36),
		"GITHUB_API_URL=http://" + address + "/api/v3", "GITHUB_WEBHOOK_SECRET=0123456789abcdef0123",
	}
	out, err := held.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if lines.Text() == heldWord {
				tell()
			}
		}
	}()
	ended := make(chan error, 1)
	go func() { <-read; ended <- held.Wait() }()
	select {
	case <-waits:
	case err := <-ended:
		t.Fatalf("%q does not wait: %v; give it arguments with which it would. It says\n%s", args, err, said.all.String())
	}
	if err := held.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	err = <-ended
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && ctx.Err() == nil {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("it did not end by %s: %v", sig, err)
	}
	return 0
}
