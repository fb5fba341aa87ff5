package coordinator_test

// The tour and the list of words are held against the code: what they name is there.

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// toured matches a name as the tour and the words write it: package, and a type or function with a member or without.
var toured = regexp.MustCompile(`\b([a-z]+)\.([A-Za-z]\w*)(?:\.([A-Za-z]\w*))?`)

func TestTheTourNamesWhatIsThere(t *testing.T) {
	declared, packages := map[string]bool{}, map[string]bool{}
	for _, p := range list(t) {
		if !strings.HasPrefix(p.name(), "internal/") {
			continue
		}
		name := path.Base(p.name())
		packages[name] = true
		for _, file := range parse(t, p).files {
			for _, decl := range file.Decls {
				for _, symbol := range symbolsOf(decl) {
					declared[name+"."+symbol] = true
				}
			}
		}
	}
	for _, file := range []string{"cmd/coordinator/doc.go", "docs/words.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for _, m := range toured.FindAllStringSubmatch(string(text), -1) {
			if m[2] == "go" || m[2] == "md" || m[2] == "com" {
				continue // a file, or an address
			}
			if !packages[m[1]] {
				t.Errorf("%s names %s of a package that is not there", file, m[0])
				continue
			}
			named++
			if !declared[m[0]] {
				t.Errorf("%s names %s, which is not there", file, m[0])
			}
		}
		for _, name := range touredFile.FindAllString(string(text), -1) {
			_, here := os.Stat(name)
			_, inCommand := os.Stat(filepath.Join("cmd/coordinator", name))
			if here != nil && inCommand != nil {
				t.Errorf("%s names the file %s, which is not there", file, name)
			}
		}
		if named < 10 {
			t.Errorf("%s names %d things: the test reads it no more", file, named)
		}
	}
}

// touredFile matches a file that the tour or the words name.
var touredFile = regexp.MustCompile(`[\w/.-]+\.(?:go|md)\b`)

// symbolsOf lists what a declaration declares: functions, types, Type.method and Type.field.
func symbolsOf(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		of := d.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if id, ok := of.(*ast.Ident); ok {
			return []string{id.Name + "." + d.Name.Name}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			s, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			names = append(names, s.Name.Name)
			if fields, ok := s.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					for _, id := range field.Names {
						names = append(names, s.Name.Name+"."+id.Name)
					}
				}
			}
		}
	}
	return names
}
