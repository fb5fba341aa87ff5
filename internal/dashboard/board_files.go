package dashboard

// The dashboard's own files. Their names carry a hash of what is in them, so that a browser may keep them for ever and
// still never mixes two versions.

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

//go:embed web
var boardWeb embed.FS

// boardFiles are the files by their public names, and the public names by those in the tree.
type boardFiles struct {
	byName map[string]boardFile
	public map[string]string
}

type boardFile struct {
	kind string
	body []byte
}

func loadBoardFiles() boardFiles {
	f := boardFiles{byName: make(map[string]boardFile), public: make(map[string]string)}
	entries, err := boardWeb.ReadDir("web")
	if err != nil { // unreachable unless the program was built without its files
		panic(err)
	}
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
		".txt": "text/plain; charset=utf-8",
	}
	for _, e := range entries {
		kind, served := kinds[path.Ext(e.Name())]
		if !served { // templates
			continue
		}
		body, err := boardWeb.ReadFile("web/" + e.Name())
		if err != nil { // unreachable: it was just listed
			panic(err)
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		f.byName[name] = boardFile{kind: kind, body: body}
		f.public[e.Name()] = "/static/" + name
	}
	return f
}

// path is where a file of the tree is served.
func (f boardFiles) path(name string) string { return f.public[name] }

func (s *boardSite) static(w http.ResponseWriter, r *http.Request) {
	file, there := s.files.byName[r.PathValue("name")]
	if !there {
		s.missing(w, r)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(file.body) // a browser that is gone needs no file
}
