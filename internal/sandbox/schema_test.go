package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
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

// ref is a type as introspection shows it: names wrapped in lists and non-nulls.
type ref struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	OfType *ref   `json:"ofType"`
}

func (r *ref) String() string {
	switch r.Kind {
	case "NON_NULL":
		return r.OfType.String() + "!"
	case "LIST":
		return "[" + r.OfType.String() + "]"
	default:
		return r.Name
	}
}

type field struct {
	Name string `json:"name"`
	Type ref    `json:"type"`
	Args []struct {
		Name string `json:"name"`
		Type ref    `json:"type"`
	} `json:"args"`
}

type fullType struct {
	Kind          string  `json:"kind"`
	Name          string  `json:"name"`
	Fields        []field `json:"fields"`
	InputFields   []field `json:"inputFields"`
	PossibleTypes []ref   `json:"possibleTypes"`
	EnumValues    []struct {
		Name string `json:"name"`
	} `json:"enumValues"`
}

type smallField struct {
	Type string            `json:"type"`
	Args map[string]string `json:"args,omitempty"`
}

type smallType struct {
	Kind     string                `json:"kind"`
	Fields   map[string]smallField `json:"fields,omitempty"`
	Possible []string              `json:"possible,omitempty"`
	Values   []string              `json:"values,omitempty"`
}

// TestSchema cuts the schema, if it is told from what.
func TestSchema(t *testing.T) {
	if *schemaFile == "" {
		t.Skip("no -schema")
	}
	b, err := os.ReadFile(*schemaFile)
	check(t, err)
	var whole struct {
		Schema struct {
			Types []fullType `json:"types"`
		} `json:"__schema"`
	}
	check(t, json.Unmarshal(b, &whole))
	byName := map[string]fullType{}
	for _, x := range whole.Schema.Types {
		byName[x.Name] = x
	}
	out := map[string]smallType{}
	for _, name := range imitated {
		if _, known := byName[name]; !known {
			t.Fatalf("GitHub has no type %s", name)
		}
		keep(out, byName, name)
	}
	small, err := json.Marshal(out)
	check(t, err)
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	check(t, err)
	w.Write(small)
	check(t, w.Close())
	check(t, os.WriteFile("schema/github.graphql.json.gz", zipped.Bytes(), 0o644))
	t.Logf("%d types, %d bytes, %d zipped", len(out), len(small), zipped.Len())
}

func bare(r *ref) string { return strings.Trim(r.String(), "[]!") }

// keep takes a type, and what it needs to be asked for.
func keep(out map[string]smallType, all map[string]fullType, name string) {
	if _, done := out[name]; done {
		return
	}
	x := all[name]
	small := smallType{Kind: x.Kind, Fields: map[string]smallField{}}
	out[name] = small
	for _, f := range append(x.Fields, x.InputFields...) {
		kept := smallField{Type: f.Type.String(), Args: map[string]string{}}
		for _, a := range f.Args {
			kept.Args[a.Name] = a.Type.String()
			keep(out, all, bare(&a.Type))
		}
		small.Fields[f.Name] = kept
		if inner := all[bare(&f.Type)]; inner.Kind == "SCALAR" || inner.Kind == "ENUM" || inner.Kind == "INPUT_OBJECT" || pages(inner) {
			keep(out, all, inner.Name)
		}
	}
	for _, p := range x.PossibleTypes {
		small.Possible = append(small.Possible, p.Name)
	}
	for _, v := range x.EnumValues {
		small.Values = append(small.Values, v.Name)
	}
	out[name] = small
}

// pages says whether a type is a connection of things that are imitated, or an edge of one.
func pages(x fullType) bool {
	if !strings.HasSuffix(x.Name, "Connection") && !strings.HasSuffix(x.Name, "Edge") {
		return false
	}
	for _, f := range x.Fields {
		if f.Name == "nodes" || f.Name == "node" {
			return slices.Contains(imitated, bare(&f.Type))
		}
	}
	return false
}
