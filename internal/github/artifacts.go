package github

// Artifacts: what a job of a run uploaded, as a ZIP archive. It is unpacked in memory: nothing of it is ever written
// anywhere.

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/unzip"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxUploads is how many artifacts of one name in one run are read: more hold no verdict.
const maxUploads = 10

// restArtifact is an artifact as GitHub lists it. Source: GitHub's REST reference, "List workflow run artifacts"; the
// list can be narrowed by name.
type restArtifact struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Size    int64     `json:"size_in_bytes"`
	Expired bool      `json:"expired"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// An uploadReader reads what runs of the head have uploaded.
type uploadReader struct {
	pullReader
	known   knownUploads
	runs    []quorum.Run // of the head
	settled time.Time    // of a run that ended before it all artifacts are listed
}

// knownUploads are artifacts that earlier looks have read.
type knownUploads map[quorum.UploadName]readUploads

type readUploads struct {
	files     []quorum.Upload
	ofAttempt int // the attempt of its run that had ended for a while by then; 0: it was under way
}

// size is about how many bytes they take.
func (k knownUploads) size() (n int) {
	for _, known := range k {
		for i := range known.files {
			n += 256 + len(known.files[i].Content)
		}
	}
	return n
}

// find finds an artifact as an earlier look has read it; nil if none has.
func (k knownUploads) find(u quorum.UploadName, id int64) *quorum.Upload {
	files := k[u].files
	for i := range files {
		if files[i].ID == id && !files[i].Expired {
			return &files[i]
		}
	}
	return nil
}

// readAll reads the artifacts that are wanted, and returns them with what is known by then. What a run has uploaded by
// its end stays as it is: its list is read once more after that, and then no more.
func (r uploadReader) readAll(
	ctx context.Context, wanted []quorum.UploadName,
) (all map[quorum.UploadName][]quorum.Upload, known knownUploads, err error) {
	g, ctx := newGroup(ctx)
	lists := readEach(g, wanted, func(u quorum.UploadName) ([]quorum.Upload, error) {
		if known, found := r.known[u]; found && known.ofAttempt != 0 && known.ofAttempt == r.endedAttempt(u.Run) {
			return known.files, nil
		}
		return r.readOfRun(ctx, u)
	})
	if err := g.Wait(); err != nil {
		return nil, r.known, err
	}
	if known = r.known; known == nil {
		known = knownUploads{}
	}
	all = map[quorum.UploadName][]quorum.Upload{}
	for i, u := range wanted {
		all[u] = lists[i]
		known[u] = readUploads{files: lists[i], ofAttempt: r.endedAttempt(u.Run)}
	}
	return all, known, nil
}

// endedAttempt is the attempt of a run that ended so long ago that its artifacts are all listed; 0 if it goes on.
func (r uploadReader) endedAttempt(id int64) int {
	for i := range r.runs {
		if run := &r.runs[i]; run.ID == id && run.Completed() && run.Updated.Before(r.settled) {
			return run.Attempt
		}
	}
	return 0
}

// readOfRun reads the artifacts of one name in one run. One that was read before is not read again: an artifact never
// changes, it is only replaced by another.
func (r uploadReader) readOfRun(ctx context.Context, u quorum.UploadName) (files []quorum.Upload, err error) {
	path := r.repoPath("actions", "runs", strconv.FormatInt(u.Run, 10), "artifacts")
	query := url.Values{"name": {u.Name}, "per_page": {"100"}}.Encode()
	all, err := readPages[restArtifact](ctx, r.client, nil, path+"?"+query, "artifacts")
	if client.IsNotFound(err) {
		return nil, nil // the run is gone: what was read of it stands in the record
	}
	for _, a := range all {
		if a.Name != u.Name {
			continue
		}
		file := quorum.Upload{
			ID: a.ID, Created: a.Created, Expired: a.Expired,
			URL: r.runURL(u.Run) + "/artifacts/" + strconv.FormatInt(a.ID, 10),
		}
		if known := r.known.find(u, a.ID); known != nil {
			file.Content, file.Problem = known.Content, known.Problem
			files = append(files, file)
			continue
		}
		switch {
		case a.Expired:
		case len(files) >= maxUploads:
			file.Problem = fmt.Sprintf("there are more than %d artifacts of that name", maxUploads)
		case a.Size > unzip.MaxArchive:
			file.Problem = unzip.ErrTooLong.Error()
		default:
			if err := r.readContent(ctx, &file); err != nil {
				return nil, err
			}
		}
		files = append(files, file)
	}
	return files, err
}

// runURL is the page of a run of the head.
func (r uploadReader) runURL(id int64) string {
	for i := range r.runs {
		if r.runs[i].ID == id {
			return r.runs[i].URL
		}
	}
	return ""
}

// readContent downloads an artifact and unpacks its one file. What is wrong with it stands in the result: only GitHub's
// own faults are errors.
func (r uploadReader) readContent(ctx context.Context, file *quorum.Upload) error {
	archive, err := r.client.Archive(ctx, r.repoPath("actions", "artifacts", strconv.FormatInt(file.ID, 10), "zip"), unzip.MaxArchive)
	switch {
	case client.IsGone(err), client.IsNotFound(err):
		file.Expired = true
		return nil
	case errors.Is(err, client.ErrTooLong):
		file.Problem = unzip.ErrTooLong.Error()
		return nil
	case err != nil:
		return err
	}
	if file.Content, err = unzip.OneFile(archive); err != nil {
		file.Problem = err.Error()
	}
	return nil
}
