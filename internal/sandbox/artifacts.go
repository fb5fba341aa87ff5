package sandbox

// Artifacts: what the jobs of a run upload. An artifact belongs to its run and not to an attempt of it; a name can be
// used once in a run, reruns included, unless the upload overwrites. They expire, and can be deleted.

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// ArtifactUpload is an artifact that a job uploads.
type ArtifactUpload struct {
	Name      string
	File      string // in the archive; default: its name
	Content   string
	Archive   []byte // the archive itself, if not one of File and Content
	Overwrite bool   // take the place of one of that name
}

// errNameTaken is GitHub's refusal of a second artifact of a name. Source: actions/upload-artifact, since its version
// 4.
var errNameTaken = errors.New("(409) Conflict: an artifact with this name already exists on the workflow run")

// UploadArtifact uploads an artifact as a job of a run's newest attempt does, and returns its id.
func UploadArtifact(g *GitHub, run int64, u ArtifactUpload) (id int64, err error) {
	archive := u.Archive
	if archive == nil {
		if archive, err = zipFile(or(u.File, u.Name), u.Content); err != nil {
			return 0, err
		}
	}
	err = g.withRun("upload an artifact of", run, func(r *workflowRun, now time.Time) error {
		isNamesake := func(a *artifact) bool { return a.name == u.Name }
		switch {
		case slices.ContainsFunc(r.artifacts, isNamesake) && !u.Overwrite:
			return errNameTaken
		case u.Overwrite:
			r.artifacts = slices.DeleteFunc(r.artifacts, isNamesake)
		}
		id = g.newID()
		r.artifacts = append(r.artifacts, &artifact{id: id, name: u.Name, archive: archive, created: now})
		return nil
	})
	return id, err
}

// ExpireArtifacts ends the retention of a run's artifacts: GitHub goes on listing them, and gives none of them out.
func ExpireArtifacts(g *GitHub, run int64) error {
	return g.withRun("expire the artifacts of", run, func(r *workflowRun, _ time.Time) error {
		for _, a := range r.artifacts {
			a.expired = true
		}
		return nil
	})
}

// DeleteArtifacts deletes a run's artifacts.
func DeleteArtifacts(g *GitHub, run int64) error {
	return g.withRun("delete the artifacts of", run, func(r *workflowRun, _ time.Time) error {
		r.artifacts = nil
		return nil
	})
}

func zipFile(name, content string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create(name)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	if _, err := f.Write([]byte(content)); err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	return b.Bytes(), nil
}

func listArtifacts(g *GitHub, r *routedRequest, w *workflowRun) routeAnswer {
	name := r.queryParam("name")
	shown := slices.DeleteFunc(slices.Clone(w.artifacts), func(a *artifact) bool { return name != "" && a.name != name })
	slices.Reverse(shown) // the newest first
	return answerCounted(r, "artifacts", shown, func(a *artifact) object { return g.artifactJSON(w, a) })
}

func findArtifact(g *GitHub, r *routedRequest) *artifact {
	for _, w := range g.runs {
		for _, a := range w.artifacts {
			if a.id == r.intParam("artifact_id") {
				return a
			}
		}
	}
	return nil
}

// getArtifact redirects to the archive.
func getArtifact(g *GitHub, r *routedRequest, a *artifact) routeAnswer {
	switch {
	case r.params["archive_format"] != "zip":
		return answerNotFound()
	case a.expired:
		return answerError(http.StatusGone, "Artifact has expired")
	}
	return redirectToStorage(g, r, fmt.Sprintf("artifacts/%d", a.id))
}

func readArchive(g *GitHub, r *routedRequest) routeAnswer {
	a := findArtifact(g, r)
	if a == nil {
		return answerFromStorage(r, "", nil, false)
	}
	return answerFromStorage(r, "application/zip", a.archive, true)
}
