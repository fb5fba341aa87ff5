package coordinator_test

// The laws of the repository. Whoever needs an exception changes the law here, where a reviewer sees it.

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/review-coordinator/coordinator"

// rules says for every package which of ours it may import. A package without a rule fails: give it one.
var rules = map[string][]string{
	"internal/lazy":       {},
	"internal/quorum":     {"internal/lazy"},
	"internal/pathfilter": {},
	"internal/review":     {"internal/quorum", "internal/lazy"},
	"internal/change":     {"internal/quorum", "internal/pathfilter", "internal/review"},
	"internal/evidence":   {"internal/quorum", "internal/change", "internal/pathfilter", "internal/review"},
	"internal/report":     {"internal/quorum", "internal/lazy"},
	"internal/config": {
		"internal/quorum", "internal/change", "internal/review", "internal/pathfilter", "internal/lazy", "internal/workflow",
	},
	"internal/github": {
		"internal/lazy",
		"internal/quorum",
		"internal/change",
		"internal/evidence",
		"internal/config",
		"internal/report",
		"internal/doctor",
		"internal/workflow",
		"internal/github/client",
		"internal/github/untrusted",
		"internal/github/unzip",
		"internal/github/webhook",
		"internal/oplog",
	},
	"internal/loop": {"internal/quorum", "internal/change", "internal/evidence", "internal/report"},
	// Workflow files, as YAML; and what is wrong with a set-up, by what was read of it.
	"internal/workflow": {"internal/lazy", "internal/pathfilter"},
	"internal/doctor":   {"internal/quorum", "internal/pathfilter", "internal/report", "internal/workflow"},
	// The client knows requests and answers, and nothing of what is judged by them.
	"internal/github/client":    {"internal/lazy", "internal/github/untrusted"},
	"internal/github/webhook":   {"internal/lazy", "internal/quorum", "internal/github/untrusted"},
	"internal/github/untrusted": {},
	"internal/github/unzip":     {},
	// The table knows keys and times and nothing of what they name.
	"internal/store":           {},
	"internal/store/storetest": {"internal/store"},
	// The golden texts of the vendors, for tests of any package.
	"internal/review/reviewtest": {"internal/review"},
	// What the daemon's table holds work for, by name; and what people see of it.
	"internal/workkey": {"internal/quorum", "internal/lazy"},
	// The operator's log: what each line's fields are called.
	"internal/oplog":     {"internal/quorum", "internal/workkey"},
	"internal/dashboard": {"internal/quorum", "internal/report", "internal/store", "internal/workkey"},
	// The daemon is a shell around the loop. It speaks of GitHub in GitHub's own types: there is one host, and no
	// second vocabulary.
	"internal/daemon": {
		"internal/quorum", "internal/evidence", "internal/report", "internal/github", "internal/github/client", "internal/github/webhook",
		"internal/loop", "internal/store", "internal/workkey", "internal/dashboard", "internal/oplog",
	},
	// What validates the sandbox against GitHub's description is for tests: nothing that is built imports it.
	"internal/sandbox/openapi": {},
	// Repositories on their first day, for the tests of what sets one up.
	"internal/sandbox/firstday": {"internal/sandbox"},
	// A browser is for tests, too.
	"internal/browsertest": {},
	// And so is what ends a test that waits for ever.
	"internal/deadline": {},
	// The fake stands on the ground: it knows GitHub, and nothing of ours.
	"internal/sandbox": {},
	"internal/story":   {"internal/quorum", "internal/config", "internal/github", "internal/github/client", "internal/loop", "internal/sandbox"},
	"cmd/coordinator": {
		"internal/quorum", "internal/review", "internal/change", "internal/evidence", "internal/report", "internal/config",
		"internal/github", "internal/github/client", "internal/github/webhook",
		"internal/loop", "internal/sandbox", "internal/story", "internal/store", "internal/daemon", "internal/dashboard", "internal/oplog",
		"internal/clone", "internal/doctor", "internal/lazy", "examples",
	},
	// The workflows that a repository copies, for the command that writes them.
	"examples": {},
	// Git's clones, as files.
	"internal/clone": {"internal/lazy"},
	// What the real program costs, and what crashes do to it, against the sandbox.
	"bench": {"internal/sandbox"},
	// It measures the others, and is measured with them.
	"scripts/house": {},
}

// pure are the packages that judge, decide and word. Equal inputs give equal outputs, wherever and whenever.
var pure = []string{
	"internal/quorum", "internal/pathfilter", "internal/review", "internal/change", "internal/evidence", "internal/report", "internal/doctor",
}

// impure is what a pure package does not import: each of them knows a clock, an environment, chance, or shared state.
var impure = []string{
	"context", "os", "os/exec", "os/signal", "os/user", "net", "net/http", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand",
	"io/fs", "io/ioutil", "path/filepath", "syscall", "unsafe", "runtime", "runtime/debug", "sync/atomic",
	"expvar", "flag", "plugin", "testing",
}

// impureNames are the names that a pure package does not use of packages that it may import.
var impureNames = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// onlyNames are the names that a pure package may use of packages that it uses little of: a constant may be computed when
// it is first needed; nothing else may be shared.
var onlyNames = map[string][]string{"sync": {"OnceValue", "OnceValues"}}

// unwelcome are names of packages that would promise nothing.
var unwelcome = []string{"util", "utils", "common", "helper", "helpers", "types", "models", "model", "manager", "service", "services", "misc", "base", "shared"}

// pkg is what `go list` says about a package.
type pkg struct {
	ImportPath, Name, Doc, Dir string
	Imports, Deps, GoFiles     []string
	TestImports, XTestImports  []string
	Error                      *struct{ Err string }
}

// name is p's path in the repository; "." for the root.
func (p pkg) name() string {
	if p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+" ") {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// list are the packages of the repository.
func list(t *testing.T) (all []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Doc,Dir,Imports,TestImports,XTestImports,Deps,GoFiles,Error", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("read list of packages: %v", err)
		case p.name() != "." && len(p.GoFiles) > 0:
			all = append(all, p)
		}
	}
}

func TestImportsPointInwards(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range list(t) {
		allowed, ruled := rules[p.name()]
		if !ruled {
			t.Errorf("%s has no rule", p.name())
		}
		seen[p.name()] = true
		for _, imp := range p.Imports {
			ours, isOurs := strings.CutPrefix(imp, module+"/")
			switch {
			case isOurs && !slices.Contains(allowed, ours):
				t.Errorf("%s must not import %s", p.name(), ours)
			case isOurs, !slices.Contains(pure, p.name()):
			case slices.Contains(impure, imp):
				t.Errorf("%s is pure and must not import %s", p.name(), imp)
			case strings.Contains(strings.Split(imp, "/")[0], "."):
				t.Errorf("%s is pure and imports nothing but the standard library: not %s", p.name(), imp)
			}
		}
	}
	for name := range rules {
		if !seen[name] {
			t.Errorf("%s has a rule and is not there", name)
		}
	}
}

// The fake could be published by itself: its tests, too, know nothing of ours but the fake, and the watchdog, which knows
// nothing.
func TestTheFakeStandsAlone(t *testing.T) {
	for _, p := range list(t) {
		if p.name() != "internal/sandbox" && !strings.HasPrefix(p.name(), "internal/sandbox/") {
			continue
		}
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if ours, isOurs := strings.CutPrefix(imp, module+"/"); isOurs && ours != "internal/sandbox" &&
				!strings.HasPrefix(ours, "internal/sandbox/") && ours != "internal/deadline" {
				t.Errorf("%s, or a test of it, imports %s", p.name(), ours)
			}
		}
	}
}

func TestEveryPackageSaysWhatItPromises(t *testing.T) {
	for _, p := range list(t) {
		opening := "Package " + p.Name + " "
		if p.Name == "main" {
			opening = "Command " + path.Base(p.name()) + " "
		}
		if !strings.HasPrefix(p.Doc, opening) {
			t.Errorf("the comment of %s begins %q, not %q", p.name(), p.Doc, opening)
		}
		for _, element := range append(strings.Split(p.name(), "/"), p.Name) {
			if slices.Contains(unwelcome, element) {
				t.Errorf("%s: a package called %s promises nothing", p.name(), element)
			}
		}
	}
}

// The action downloads and starts the program for every event: what only tests need stays out of it.
func TestTheProgramIsLight(t *testing.T) {
	found := false
	for _, p := range list(t) {
		if p.name() != "cmd/coordinator" {
			continue
		}
		found = true
		for _, heavy := range []string{
			"testing", "net/http/httptest", "github.com/getkin/kin-openapi", "pgregory.net/rapid",
			"github.com/google/go-cmp", "github.com/rogpeppe/go-internal/testscript", "go.uber.org/goleak",
		} {
			for _, dep := range p.Deps {
				if dep == heavy || strings.HasPrefix(dep, heavy+"/") {
					t.Errorf("the program contains %s", dep)
				}
			}
		}
		main, err := os.ReadFile(filepath.Join(p.Dir, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(main, []byte("\n")); n >= 60 {
			t.Errorf("main.go has %d lines", n)
		}
	}
	if !found {
		t.Error("there is no program")
	}
}

// source is a package's syntax without its tests.
type source struct {
	name  string
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// parse reads p and finds out what its identifiers mean; what other packages declare remains unknown.
func parse(t *testing.T, p pkg) source {
	t.Helper()
	s := source{name: p.name(), fset: token.NewFileSet(), info: &types.Info{Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}}
	for _, file := range p.GoFiles {
		f, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, file), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("parse %s: %v", file, err)
		}
		s.files = append(s.files, f)
	}
	hollow := types.Config{Importer: hollow{}, Error: func(error) {}, FakeImportC: true}
	_, _ = hollow.Check(p.ImportPath, s.fset, s.files, s.info) // errors are certain, as all imports are hollow
	return s
}

// hollow imports every package as an empty one: names within a package are resolved all the same.
type hollow struct{}

func (hollow) Import(name string) (*types.Package, error) {
	base := path.Base(name)
	if strings.HasPrefix(base, "v") && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(name))
	}
	p := types.NewPackage(name, base)
	p.MarkComplete()
	return p, nil
}

func (s source) errorf(t *testing.T, at ast.Node, format string, args ...string) {
	t.Helper()
	for _, arg := range args {
		format = strings.Replace(format, "%s", arg, 1)
	}
	pos := s.fset.Position(at.Pos())
	t.Errorf("%s/%s:%d: %s", s.name, filepath.Base(pos.Filename), pos.Line, format)
}

// imported is the path of the package that an identifier stands for; "" if it is something else.
func (s source) imported(e ast.Expr) string {
	id, isIdent := e.(*ast.Ident)
	if !isIdent {
		return ""
	}
	if p, isPackage := s.info.Uses[id].(*types.PkgName); isPackage {
		return p.Imported().Path()
	}
	return ""
}

func TestTheCoreIsPure(t *testing.T) {
	for _, p := range list(t) {
		if !slices.Contains(pure, p.name()) {
			continue
		}
		s := parse(t, p)
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					s.errorf(t, n, "a goroutine")
				case *ast.SendStmt:
					s.errorf(t, n, "a channel")
				case *ast.SelectStmt:
					s.errorf(t, n, "a channel")
				case *ast.ChanType:
					s.errorf(t, n, "a channel")
				case *ast.SelectorExpr:
					from := s.imported(n.X)
					only, few := onlyNames[from]
					if slices.Contains(impureNames[from], n.Sel.Name) || few && !slices.Contains(only, n.Sel.Name) {
						s.errorf(t, n, "%s.%s", from, n.Sel.Name)
					}
				case *ast.UnaryExpr:
					if n.Op == token.ARROW {
						s.errorf(t, n, "a channel")
					}
				case *ast.CallExpr:
					if id, isIdent := n.Fun.(*ast.Ident); isIdent && (id.Name == "print" || id.Name == "println") {
						s.errorf(t, n, "%s writes", id.Name)
					}
				}
				return true
			})
		}
	}
}

// raceless matches, in the Makefile, what is tested without the race detector.
var raceless = regexp.MustCompile(`\(/internal/\(([a-z|]+)\)\)\?\$`)

// The race detector looks at all that can race. What it leaves out are the pure packages, which TestTheCoreIsPure keeps from
// having anything to share (goroutines of stories, histories and the daemon call them all the same), and the root, which is
// nothing but tests that start programs.
func TestTheRaceDetectorLeavesOutWhatCannotRace(t *testing.T) {
	var short []string
	for _, name := range pure {
		short = append(short, strings.TrimPrefix(name, "internal/"))
	}
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := raceless.FindSubmatch(text)
	if found == nil {
		t.Fatal("the Makefile does not say what the race detector leaves out")
	}
	if got := strings.Split(string(found[1]), "|"); !slices.Equal(got, short) {
		t.Errorf("make race leaves out %q; the pure packages are %q", got, short)
	}
}

func TestNothingHappensBeforeMain(t *testing.T) {
	for _, p := range list(t) {
		s := parse(t, p)
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Recv == nil && n.Name.Name == "init" {
						s.errorf(t, n, "an init function")
					}
				case *ast.SelectorExpr:
					if s.imported(n.X) == "time" && n.Sel.Name == "Sleep" {
						s.errorf(t, n, "it sleeps; wait for a context or a timer instead")
					}
				}
				return true
			})
		}
	}
}

// Tests wait for what happens, or in virtual time for a timer: none sleeps.
func TestNoTestSleeps(t *testing.T) {
	for _, name := range files(t) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if at := bytes.Index(text, []byte("time."+"Sleep(")); at >= 0 {
			t.Errorf("%s:%d sleeps", name, 1+bytes.Count(text[:at], []byte("\n")))
		}
	}
}

// starters matches an import by which a test starts a server, a clock or a process, or opens a table.
var starters = regexp.MustCompile(`(?m)^\s*(?:import )?"(?:os/exec|net|net/http|net/http/httptest|testing/synctest|database/sql|` +
	`github\.com/(?:chromedp/chromedp|rogpeppe/go-internal/testscript|review-coordinator/coordinator/internal/(?:daemon|sandbox|store)))"$`)

// No test waits for ever: every package in which one could is under the watchdog.
func TestEveryPackageIsWatched(t *testing.T) {
	started, watched := map[string]string{}, map[string]bool{}
	for _, name := range files(t) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if starters.Match(text) {
			started[path.Dir(name)] = name
		}
		if bytes.Contains(text, []byte("func TestMain(m *testing.M) {")) && bytes.Contains(text, []byte("deadline."+"Watch(m")) {
			watched[path.Dir(name)] = true
		}
	}
	for dir, name := range started {
		if !watched[dir] {
			t.Errorf("%s starts something, and no TestMain in %s calls deadline.Watch", name, dir)
		}
	}
}

// What fails or panics in the sandbox leaves no lock behind, so that who plays on waits for none: each is freed by a
// defer.
func TestTheSandboxFreesItsLocksByDefer(t *testing.T) {
	for _, name := range files(t) {
		if path.Dir(name) != "internal/sandbox" || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, isDeferred := n.(*ast.DeferStmt); isDeferred {
				return false
			}
			if call, isCall := n.(*ast.CallExpr); isCall {
				if of, isMethod := call.Fun.(*ast.SelectorExpr); isMethod && (of.Sel.Name == "Unlock" || of.Sel.Name == "held") {
					t.Errorf("%s: this lock stays after a panic: free it by a defer", set.Position(call.Pos()))
				}
			}
			return true
		})
	}
}

// A package variable is a table, an error or a compiled pattern: it gets its value where it is declared, and keeps it.
func TestPackageVariablesAreNeverChanged(t *testing.T) {
	for _, p := range list(t) {
		s := parse(t, p)
		for _, f := range s.files {
			for _, decl := range f.Decls {
				if gen, isGen := decl.(*ast.GenDecl); isGen && gen.Tok == token.VAR {
					s.declared(t, gen)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, left := range n.Lhs {
						s.unchanged(t, left)
					}
				case *ast.IncDecStmt:
					s.unchanged(t, n.X)
				case *ast.RangeStmt:
					s.unchanged(t, n.Key)
					s.unchanged(t, n.Value)
				case *ast.UnaryExpr:
					if n.Op == token.AND {
						s.unchanged(t, n.X)
					}
				case *ast.CallExpr:
					if len(n.Args) > 0 && s.changes(n.Fun) {
						s.unchanged(t, n.Args[0])
					}
				}
				return true
			})
		}
	}
}

// declared complains about package variables that have no value: somebody will change them. Files that are embedded and
// what the linker sets get theirs from outside.
func (s source) declared(t *testing.T, gen *ast.GenDecl) {
	t.Helper()
	for _, spec := range gen.Specs {
		v, isValue := spec.(*ast.ValueSpec)
		if !isValue || len(v.Values) > 0 || embedded(gen.Doc) || embedded(v.Doc) {
			continue
		}
		if name := v.Names[0].Name; s.name != "cmd/coordinator" || name != "release" {
			s.errorf(t, v, "%s has no value: somebody will change it", name)
		}
	}
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// unchanged complains if an expression that is changed begins with a package variable.
func (s source) unchanged(t *testing.T, e ast.Expr) {
	t.Helper()
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.Ident:
			if v, isVar := s.info.Uses[x].(*types.Var); isVar && v.Parent() != nil && v.Parent() == v.Pkg().Scope() {
				s.errorf(t, x, "%s is a package variable and is changed", x.Name)
			}
			return
		default:
			return
		}
	}
}

// changes reports whether a function changes its first argument.
func (s source) changes(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"clear", "copy", "delete"}, f.Name)
	case *ast.SelectorExpr:
		switch s.imported(f.X) {
		case "sort":
			return true
		case "slices":
			return slices.ContainsFunc([]string{
				"Sort", "Reverse", "Delete", "Insert", "Replace", "Compact", "Grow",
			}, func(w string) bool { return strings.HasPrefix(f.Sel.Name, w) })
		case "maps":
			return f.Sel.Name == "Copy" || f.Sel.Name == "DeleteFunc" || f.Sel.Name == "Insert"
		}
	}
	return false
}

// files are the files of the repository: what git knows and does not ignore, or without git all there are.
func files(t *testing.T) []string {
	t.Helper()
	if out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output(); err == nil && len(out) > 0 {
		return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	}
	var all []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// outsideOfAClone matches a path that only one machine has: a home, a working folder, or a folder beside the clone.
var outsideOfAClone = regexp.MustCompile(`/(?:work|root|home|Users)/[a-z]|\.\./shared\b`)

// onEveryRunner matches the folder below which GitHub's runners check a repository out: it is no single machine's.
var onEveryRunner = regexp.MustCompile(`/(?:home|Users)/runner/work/`)

// A clone is all that anybody needs: no file points to a place outside it. (The folder .ci is for the machine that runs
// it.)
func TestTheRepositoryStandsAlone(t *testing.T) {
	for _, name := range files(t) {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(name, ".ci/") {
			continue // git still knows a file that was deleted a moment ago
		}
		if err != nil {
			t.Fatal(err)
		}
		text = onEveryRunner.ReplaceAll(text, []byte("runner:"))
		if at := outsideOfAClone.FindIndex(text); at != nil {
			t.Errorf("%s:%d names %s", name, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]])
		}
	}
}
