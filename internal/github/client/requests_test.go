package client

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// All requests to GitHub are go-github's. Outside it stand the signed URLs of logs and artifacts, which get no token.
func TestRequestsAreGoGitHubs(t *testing.T) {
	makes := regexp.MustCompile(`http\.(?:NewRequest|Get\(|Post\(|Head\(|PostForm\(|DefaultClient|DefaultTransport|Client\{)`)
	allowed := map[string]string{
		"client/client.go": "http.Client{",                 // go-github's
		"client/joblog.go": "http.Client{ http.NewRequest", // of signed URLs
	}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		for _, found := range makes.FindAllString(string(text), -1) {
			if !strings.Contains(allowed[name], found) {
				t.Errorf("%s makes a request of its own: %s", name, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
