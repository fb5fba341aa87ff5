package coordinator_test

// The words of the log. An operator finds all lines about a pull request by its fields, so that each line has them, or
// is about no single thing; and no line needs our glossary.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// linesOfTheProcess are the beginnings of lines that are about no installation, repository or pull request.
var linesOfTheProcess = []string{
	"the review coordinator serves", "it serves, but not as it should", "stopping:", "stopped", "the database could not be closed", // cmd
	"work may be done twice, or late", // cmd
	"open pull requests are looked over late",
	"other coordinators learn late that this one stops",                                                                                        // daemon
	"the connection to the database has ended", "the database cannot be reached", "what this process had", "other coordinators take over when", // the store
	"our database", "connections cannot be accepted", "the clock was set back", "an HTTP handler panicked", "not ready: ", // the daemon
	"more deliveries failed", "GitHub was asked for deliveries", "GitHub cannot be asked for a delivery again", "webhook ",
	"another version of this program", "the cache of answers", // the store
	// The client's own lines: its logger has the installation, and its paths name the rest.
	"GitHub answered", "GitHub is asked again", "GitHub's rate limit is reached", "GitHub lists more deliveries", "GitHub knows no webhook",
}

// fieldNames are the names of fields that lines write by themselves, beside those of package oplog.
var fieldNames = []string{
	"err", "stack", "panic", "because", "remedy", "attempt", "next", "until", "head", "since", "verdict", "check_run", "title",
	"reviewer", "statuses", "kind", "delivery", "event", "action", "result", "count", "most", "dropped", "pages", "by",
	"method", "path", "status", "took", "primary", "file", "to", "operations", "installation", "pull_requests", "from", "last",
	"version", "webhook", "dashboard", "database", "identity", "api", "resync",
}

// privateWords are words of docs/words.md that the log's readers need not know.
var privateWords = regexp.MustCompile(`(?i)\b(tenants?|sights?|pokes?|poked|lanes?|leases?|touch(es)?|looks?|wakes?|turns?|sweep keys?|the table|the host)\b`)

// logCall returns the arguments of a call that writes a line of the log.
func logCall(call *ast.CallExpr) (args []ast.Expr, ok bool) {
	method, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod || !slices.Contains([]string{
		"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "LogAttrs",
	}, method.Sel.Name) {
		return nil, false
	}
	name := ""
	switch on := method.X.(type) {
	case *ast.Ident:
		name = on.Name
	case *ast.SelectorExpr:
		name = on.Sel.Name
	case *ast.CallExpr:
		if f, isMethod := on.Fun.(*ast.SelectorExpr); isMethod {
			name = f.Sel.Name
		}
	}
	if !strings.HasSuffix(strings.ToLower(name), "log") && name != "newLogger" {
		return nil, false
	}
	args = call.Args
	switch {
	case method.Sel.Name == "LogAttrs":
		args = args[2:] // the context and the level
	case strings.HasSuffix(method.Sel.Name, "Context"):
		args = args[1:]
	}
	return args, true
}

// literals are the texts that stand in an expression.
func literals(e ast.Node) (texts []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// TestEachLineOfTheLogSaysWhatItIsAbout reads every call that writes to a log.
func TestEachLineOfTheLogSaysWhatItIsAbout(t *testing.T) {
	var files []string
	for _, pattern := range []string{"cmd/coordinator/*.go", "internal/*/*.go", "internal/*/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	lines := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "internal/store/storetest") || strings.HasPrefix(file, "internal/oplog") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			args, ok := logCall(call)
			if !ok {
				return true
			}
			lines++
			for _, wrong := range wrongsOfLine(args) {
				t.Errorf("%s: %s", set.Position(call.Pos()), wrong)
			}
			return true
		})
	}
	if lines < 40 {
		t.Errorf("%d lines were found: the test does not see the log any more", lines)
	}
}

// wrongsOfLine says what is wrong with a line of the log.
func wrongsOfLine(args []ast.Expr) (wrongs []string) {
	text, isAbout := strings.Join(literals(args[0]), "…"), false
	if word := privateWords.FindString(text); word != "" {
		wrongs = append(wrongs, "the private word "+strconv.Quote(word)+" in "+strconv.Quote(text))
	}
	for i := 1; i < len(args); i++ {
		switch arg := args[i].(type) {
		case *ast.BasicLit: // a name; its value follows
			if name := strings.Trim(arg.Value, `"`); !slices.Contains(fieldNames, name) {
				wrongs = append(wrongs, "the field "+arg.Value+" is not on the list")
			}
			i++
		case *ast.CallExpr:
			f, isMethod := arg.Fun.(*ast.SelectorExpr)
			if !isMethod { // the delivery of a request that was refused
				maker, isName := arg.Fun.(*ast.Ident)
				isAbout = isAbout || isName && maker.Name == "deliveryOf"
				continue
			}
			from, _ := f.X.(*ast.Ident)
			isAbout = isAbout || from != nil && from.Name == "oplog"
			if name := literals(arg); from != nil && from.Name == "slog" && !slices.Contains(fieldNames, name[0]) {
				wrongs = append(wrongs, "the field "+name[0]+" is not on the list")
			}
		case *ast.Ident: // fields that were gathered
			isAbout = isAbout || arg.Name == "fields"
		}
	}
	isProcess := slices.ContainsFunc(linesOfTheProcess, func(begin string) bool { return strings.HasPrefix(text, begin) })
	if !isAbout && !isProcess {
		wrongs = append(wrongs, strconv.Quote(text)+" has no field of package oplog: which pull request, repository or installation is it about?")
	}
	return wrongs
}

// TestAWrongLineIsFound tries the reader of lines.
func TestAWrongLineIsFound(t *testing.T) {
	for src, want := range map[string]string{
		`log.Warn("it failed", oplog.PullRequest(pr), "err", err)`: "",
		`d.Log.Info("stopped")`:                                       "",
		`c.newLogger().Warn("it failed", "err", err)`:                 "has no field of package oplog",
		`d.Log.Warn("a look failed", oplog.Subject(w.Key))`:           `the private word "look"`,
		`d.Log.Warn("it failed", oplog.Subject(w.Key), "tenant", 7)`:  `the field "tenant"`,
		`log.LogAttrs(ctx, level, "stopped", slog.Int("sight", 7))`:   "the field sight",
		`a.Log.ErrorContext(ctx, "it broke", "err", err)`:             "has no field of package oplog",
		`h.config.Log.Info(text, oplog.Installation(id), "pr", name)`: `the field "pr"`,
	} {
		e, err := parser.ParseExpr(src)
		if err != nil {
			t.Fatal(err)
		}
		args, ok := logCall(e.(*ast.CallExpr))
		if !ok {
			t.Errorf("%s is not seen as a line", src)
			continue
		}
		if got := strings.Join(wrongsOfLine(args), "; "); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
