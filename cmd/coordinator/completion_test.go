//go:build !action

package main

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runInProcess runs the program with these arguments and this input, in no clone.
func runInProcess(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	c := &command{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }}
	return c.Main(context.Background(), args), out.String(), said.String()
}

// A shell that completes is told the commands, the flags and the values of what stands before the cursor.
func TestCompletion(t *testing.T) {
	for _, test := range []struct{ words, want string }{
		{"", "run sweep explain classify verdict config init doctor simulate demo completion man help version serve backup store"},
		{"ex", "explain"},
		{"config ", "check init schema"},
		{"config check ", ":file"},
		{"config check --", "--help --verbose --version"},
		{"explain --po", "--policy"},
		{"explain --policy ", ":file"},
		{"explain 7 --policy ", ":file"},
		{"explain 7 ", ""},
		{"classify --preset cod", "coderabbit codex"},
		{"classify --preset=copi", "--preset=copilot"},
		{"classify --preset = copi", "copilot"},
		{"classify --kind ", "comment review check status log"},
		{"verdict make --format ", "plain codex claude"},
		{"simulate one.txt ", ":file"},
		{"help con", "config"},
		{"help serve ", "setup"},
		{"man verdict ", "make check schema"},
		{"help serve setup ", ""},
		{"serve ", "setup"},
		{"serve --", "--listen --admin-listen --database --public-url --resync --check --json --log-level"},
		{"serve --check --resync ", ""},
		{"serve setup --", "--webhook --dir --listen --print-manifest"},
		{"serve setup --dir ", ":file"},
		{"init --", "--repo --dir --pull-request --dry-run --force --ref"},
		{"doctor octo/shop --", "--repo --fix --json"},
		{"backup ", ":file"},
		{"backup copy.db --", "--database --force --json"},
		{"store ", "copy"},
		{"store copy --", "--from --to --json"},
		{"serve --log-level ", "debug info warn error"},
		{"--log-format=j", "--log-format=json"},
		{"completion ", "bash zsh fish"},
		{"-v swe", "sweep"},
		{"sweep --limit ", ""},
		{"nonsense ", "run sweep explain classify verdict config init doctor simulate demo completion man help version serve backup store"},
	} {
		words := strings.Split(test.words, " ")
		code, out, said := runInProcess(t, "", append([]string{"complete", "--"}, words...)...)
		var got []string
		for line := range strings.Lines(out) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got = append(got, word)
		}
		want := strings.Fields(test.want)
		for _, w := range want { // a new command, flag or preset is welcome
			if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+w+" ") {
				t.Errorf("%q: %q, want %q (exit %d, %q)", test.words, got, want, code, said)
			}
		}
		if slices.Contains(got, "daemon") {
			t.Errorf("%q offers serve's hidden command: %q", test.words, got)
		}
		if len(want) == 0 && len(got) > 0 {
			t.Errorf("%q: %q, want nothing", test.words, got)
		}
	}
}

// bash itself completes with the script that it is given. The program's answers are those of the program in this test.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	writeTo(t, filepath.Join(dir, "policy.yml"), "")
	writeTo(t, filepath.Join(dir, "x$(touch y).yml"), "") // an old bash would run it at the next Enter
	_, script, _ := runInProcess(t, "", "completion", "bash")
	for words, want := range map[string]string{
		"coordinator exp":                        "explain",
		"coordinator classify --preset = copilo": "copilot",
		"coordinator config check pol":           "policy.yml",
		"coordinator help serve s":               "setup",
		"coordinator serve --admin":              "--admin-listen",
		"coordinator config check x":             `x\$\(touch\ y\).yml`,
	} {
		program := strings.Replace(script, `"${COMP_WORDS[0]}" complete`, "answers", 1) +
			"\nCOMP_WORDS=(" + strings.ReplaceAll(words, "=", "'='") + ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_coordinator\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
		_, lines, _ := runInProcess(t, "", append([]string{"complete", "--"}, strings.Fields(words)[1:]...)...)
		cmd := exec.Command(bash, "--norc", "-c", "answers() { cat <<'END'\n"+lines+"END\n}\n"+program)
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(said)) != want {
			t.Errorf("%s: %q, %v; want %q", words, said, err, want)
		}
	}
}

// A man page says what the help says, and no line of it is taken for roff's own.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	code, out, said := runInProcess(t, "", "man", "--dir", dir)
	if code != 0 || strings.Count(out, "\n") < 15 {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	_, page, _ := runInProcess(t, "", "man", "config", "check")
	for _, part := range []string{
		`.TH "COORDINATOR-CONFIG-CHECK" 1`, ".SH NAME\ncoordinator\\-config\\-check \\- Check a policy file and say what it means\n",
		".B coordinator config check [<file>]", ".SH SEE ALSO\n.BR coordinator\\-config (1)",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q in\n%s", part, page)
		}
	}
	_, page, _ = runInProcess(t, "", "man", "serve") // alone it is the daemon, with all its flags
	for _, part := range []string{
		".B coordinator serve [<command>] [flags]\n", "Runs until it is told to stop", ".B \\-\\-admin\\-listen=HOST:PORT\n",
		".BR coordinator\\-serve\\-setup (1)",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q in\n%s", part, page)
		}
	}
	if strings.Contains(out, "daemon") || !strings.Contains(out, "coordinator-serve-setup.1") || !strings.Contains(out, "coordinator-backup.1") {
		t.Errorf("other pages: %s", out)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	all := exec.Command(groff, append([]string{"-man", "-Tutf8", "-ww", "-z"}, strings.Fields(out)...)...)
	if said, err := all.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v: %s", err, said)
	}
}
