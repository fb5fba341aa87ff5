package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

var schemaFile = flag.String("schema", "", "cut GitHub's GraphQL schema anew from this `file`")

// imitated are the types of which the sandbox has objects. Their connections, and what their arguments take, come
// along.
var imitated = []string{
	"Query", "RateLimit", "Repository", "Ref", "Commit", "GitActor", "GitSignature", "GpgSignature", "App", "CheckSuite",
	"CheckRun", "WorkflowRun", "WorkflowRunFile", "Workflow", "StatusCheckRollup", "StatusContext",
	"PullRequest", "PullRequestCommit", "PullRequestChangedFile", "PullRequestReview",
	"PullRequestReviewComment", "PullRequestReviewThread", "IssueComment", "Label", "ReviewRequest",
	"User", "Bot", "PageInfo", "MergeQueue", "MergeQueueEntry",
	"AutomaticBaseChangeSucceededEvent", "BaseRefChangedEvent", "ClosedEvent", "ConvertToDraftEvent",
	"HeadRefForcePushedEvent", "LabeledEvent", "ReadyForReviewEvent", "ReopenedEvent", "ReviewDismissedEvent",
	"ReviewRequestedEvent", "UnlabeledEvent",
	"Actor", "RepositoryOwner", "Node", "GitObject", "Comment", "PullRequestTimelineItems", "RequestedReviewer", "StatusCheckRollupContext",
}

// TestSchema cuts the schema, if it is told from what.
func TestSchema(t *testing.T) {
	if *schemaFile == "" {
		t.Skip("no -schema")
	}
	b, err := os.ReadFile(*schemaFile)
	check(t, err)
	all, err := parser.ParseSchema(&ast.Source{Name: *schemaFile, Input: string(b)})
	check(t, err)
	kept := map[string]*ast.Definition{}
	for _, name := range imitated {
		if all.Definitions.ForName(name) == nil {
			t.Fatalf("GitHub has no type %s", name)
		}
		keepType(kept, all.Definitions, name)
	}
	builtIn := []string{"String", "Int", "Float", "Boolean", "ID"}
	isLeftOut := func(name string) bool { return kept[name] == nil && !slices.Contains(builtIn, name) }
	for _, def := range kept {
		def.Fields = slices.DeleteFunc(def.Fields, func(f *ast.FieldDefinition) bool { f.Directives = nil; return isLeftOut(f.Type.Name()) })
		def.Interfaces, def.Types = slices.DeleteFunc(def.Interfaces, isLeftOut), slices.DeleteFunc(def.Types, isLeftOut)
		def.Directives = nil
		for _, v := range def.EnumValues {
			v.Directives = nil
		}
	}
	var small, zipped bytes.Buffer
	out := formatter.NewFormatter(&small, formatter.WithoutDescription(), formatter.WithIndent(" "))
	out.FormatSchema(&ast.Schema{Types: kept, Query: kept["Query"]})
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	check(t, err)
	w.Write(small.Bytes())
	check(t, w.Close())
	check(t, os.WriteFile("schema/github.graphql.gz", zipped.Bytes(), 0o644))
	t.Logf("%d types, %d bytes, %d zipped", len(kept), small.Len(), zipped.Len())
}

// keepType keeps a type, and those that a query needs for its fields: of arguments, of leaves, and of pages.
func keepType(kept map[string]*ast.Definition, all ast.DefinitionList, name string) {
	def := all.ForName(name)
	if kept[name] != nil || def == nil {
		return
	}
	kept[name] = def
	for _, f := range def.Fields {
		for _, a := range f.Arguments {
			a.Directives = nil
			keepType(kept, all, a.Type.Name())
		}
		if inner := all.ForName(f.Type.Name()); inner != nil && (inner.IsLeafType() || inner.IsInputType() || isPage(inner)) {
			keepType(kept, all, inner.Name)
		}
	}
}

// isPage reports whether a type is a connection of things that are imitated, or an edge of one.
func isPage(def *ast.Definition) bool {
	if !strings.HasSuffix(def.Name, "Connection") && !strings.HasSuffix(def.Name, "Edge") {
		return false
	}
	return slices.ContainsFunc(def.Fields, func(f *ast.FieldDefinition) bool {
		return (f.Name == "nodes" || f.Name == "node") && slices.Contains(imitated, f.Type.Name())
	})
}
