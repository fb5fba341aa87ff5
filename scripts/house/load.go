package main

// Reading a module: the packages that `go list` finds, each parsed and type-checked with the tests inside it. What they
// import comes from the compiler's export data, so that every identifier's meaning is exact.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A listedPackage is what `go list` says about a package.
type listedPackage struct {
	ImportPath, Dir, Export                                         string
	GoFiles, TestGoFiles, XTestGoFiles, IgnoredGoFiles, TestImports []string
	Module                                                          struct{ Path string }
}

// A checkout is what is measured.
type checkout struct {
	module   string
	packages []checkedPackage
	docs     map[string]string // the Markdown files, by their paths
	covered  map[string][]int  // lines of code that one event ran, by file; nil: that is not measured
}

// A checkedPackage is a package of the module that was type-checked together with its in-package tests.
type checkedPackage struct {
	path  string // in the repository; "." for the root
	files []sourceFile
	fset  *token.FileSet
	types *types.Package
	info  *types.Info
}

// A sourceFile is one file of a package.
type sourceFile struct {
	name   string
	test   bool
	lines  []string
	syntax *ast.File // nil in a test outside the package: it sees what is exported, as any other package does
}

// loadModule reads the module in dir: its packages, under the default build tags, in the order of their paths; and its
// docs.
func loadModule(ctx context.Context, dir string) (house checkout, err error) {
	listed, err := listPackages(ctx, dir, "./...")
	if err != nil {
		return house, err
	}
	if house.docs, err = readDocs(dir); err != nil {
		return house, err
	}
	wanted := []string{"-deps", "-export", "./..."}
	for _, p := range listed {
		wanted = append(wanted, p.TestImports...)
	}
	slices.Sort(wanted[3:])
	built, err := listPackages(ctx, dir, slices.Compact(wanted)...)
	if err != nil {
		return house, err
	}
	exports := make(map[string]string, len(built))
	for _, p := range built {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	openExport := func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) }
	imports := importer.ForCompiler(fset, "gc", openExport)
	house.packages = make([]checkedPackage, len(listed))
	for i, p := range listed {
		house.module = p.Module.Path
		if house.packages[i], err = checkPackage(p, fset, imports); err != nil {
			return house, fmt.Errorf("check %s: %w", p.ImportPath, err)
		}
	}
	return house, nil
}

// readDocs reads the Markdown files of a checkout.
func readDocs(dir string) (map[string]string, error) {
	docs := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		docs[name] = string(text)
		return err
	})
	return docs, err
}

// listPackages runs `go list` in dir.
func listPackages(ctx context.Context, dir string, args ...string) (all []listedPackage, err error) {
	fields := "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,IgnoredGoFiles,TestImports,Module"
	args = append([]string{"list", fields}, args...)
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // what our own files import
	var complaint bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages in %s: %w\n%s", dir, err, complaint.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		all = append(all, p)
	}
}

// checkPackage parses p's files and finds out what its identifiers mean. Of files of other builds, and of test packages,
// only the lines are read.
func checkPackage(p listedPackage, fset *token.FileSet, imports types.Importer) (checkedPackage, error) {
	checked := checkedPackage{path: ".", fset: fset, info: &types.Info{Uses: make(map[*ast.Ident]types.Object)}}
	if below, isBelow := strings.CutPrefix(p.ImportPath, p.Module.Path+"/"); isBelow {
		checked.path = below
	}
	var syntax []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles, p.IgnoredGoFiles) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return checked, err
		}
		file := sourceFile{name: name, test: strings.HasSuffix(name, "_test.go")}
		file.lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if slices.Contains(p.GoFiles, name) || slices.Contains(p.TestGoFiles, name) {
			file.syntax, err = parser.ParseFile(fset, filepath.Join(p.Dir, name), text, parser.SkipObjectResolution)
			if err != nil {
				return checked, err
			}
			syntax = append(syntax, file.syntax)
		}
		checked.files = append(checked.files, file)
	}
	var err error
	checked.types, err = (&types.Config{Importer: imports}).Check(p.ImportPath, fset, syntax, checked.info)
	return checked, err
}

// fileAt returns the file of p that pos is in.
func (p checkedPackage) fileAt(pos token.Pos) *sourceFile {
	for i := range p.files {
		if f := p.files[i].syntax; f != nil && f.FileStart <= pos && pos < f.FileEnd {
			return &p.files[i]
		}
	}
	return nil
}

// A nameUse is an identifier for a package-level name, a method or a field that its own package declares.
type nameUse struct {
	in, declaredIn *sourceFile
	name           types.Object
}

// nameUses are p's uses of its own names, in no order.
func (p checkedPackage) nameUses() (uses []nameUse) {
	for id, object := range p.info.Uses {
		isShared := object.Parent() == p.types.Scope()
		switch o := object.(type) { // what is used of a generic type is declared once
		case *types.Func:
			object, isShared = o.Origin(), true
		case *types.Var:
			object, isShared = o.Origin(), isShared || o.IsField()
		}
		if isShared && object.Pkg() == p.types {
			uses = append(uses, nameUse{p.fileAt(id.Pos()), p.fileAt(object.Pos()), object})
		}
	}
	return uses
}
