package github

// Artifacts: what a job of a run uploaded, as a ZIP archive that a stranger may have made. It is unpacked in memory, one file of
// bounded size, and nothing of it is ever written anywhere.

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	maxArtifact = 1 << 20              // bytes of the file in an archive
	maxArchive  = maxArtifact + 64<<10 // bytes of the archive: what cannot be packed takes a little more than it is
	maxUploads  = 10                   // artifacts of one name in one run: more hold no verdict
)

// restArtifact is an artifact as GitHub lists it. Source: GitHub's REST reference, "List workflow run artifacts"; the list can be
// narrowed by name.
type restArtifact struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Size    int64     `json:"size_in_bytes"`
	Expired bool      `json:"expired"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// readUploads reads the artifacts that are wanted. What a run has uploaded by its end stays as it is: its list is read once more
// after that, and then no more.
func (l *look) readUploads(ctx context.Context, wanted []quorum.UploadName) error {
	g, ctx := newGroup(ctx)
	lists := readEach(g, wanted, func(u quorum.UploadName) ([]quorum.Upload, error) {
		if known, found := l.mem.uploads[u]; found && l.isFinal(u.Run, known.ofAttempt) {
			return known.files, nil
		}
		return l.readRunUploads(ctx, u)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	for i, u := range wanted {
		l.snap.Uploads = append(l.snap.Uploads, quorum.Uploads{UploadName: u, Files: lists[i]})
		l.mem.uploads = withEntry(l.mem.uploads, u, knownUploads{files: lists[i], ofAttempt: l.endedAttempt(u.Run)})
	}
	return nil
}

// knownUploads are artifacts that a look has read.
type knownUploads struct {
	files     []quorum.Upload
	ofAttempt int // the attempt of its run that had ended for a while by then; 0: it was under way
}

// endedAttempt is the attempt of a run that ended so long ago that its artifacts are all listed; 0 if it goes on.
func (l *look) endedAttempt(id int64) int {
	known := l.f.now().Add(l.snap.Skew - quorum.ReplicaLag)
	for i := range l.snap.Runs {
		if run := &l.snap.Runs[i]; run.ID == id && run.Completed() && run.Updated.Before(known) {
			return run.Attempt
		}
	}
	return 0
}

// isFinal reports whether what was read of a run after that attempt is all that there is.
func (l *look) isFinal(id int64, attempt int) bool {
	return attempt != 0 && attempt == l.endedAttempt(id)
}

// readRunUploads reads the artifacts of one name in one run. One that was read before is not read again: an artifact never changes,
// it is only replaced by another.
func (l *look) readRunUploads(ctx context.Context, u quorum.UploadName) ([]quorum.Upload, error) {
	r := l.read
	query := url.Values{"name": {u.Name}, "per_page": {"100"}}.Encode()
	all, err := readPages[restArtifact](ctx, r.client, nil, r.repoPath("actions", "runs", strconv.FormatInt(u.Run, 10), "artifacts")+"?"+query, "artifacts")
	if client.IsNotFound(err) {
		return nil, nil // the run is gone: what was read of it stands in the record
	}
	var files []quorum.Upload
	for _, a := range all {
		if a.Name != u.Name {
			continue
		}
		file := quorum.Upload{
			ID: a.ID, Created: a.Created, Expired: a.Expired,
			URL: l.runURL(u.Run) + "/artifacts/" + strconv.FormatInt(a.ID, 10),
		}
		if known := l.mem.upload(u, a.ID); known != nil {
			file.Content, file.Problem = known.Content, known.Problem
			files = append(files, file)
			continue
		}
		switch {
		case a.Expired:
		case len(files) >= maxUploads:
			file.Problem = fmt.Sprintf("there are more than %d artifacts of that name", maxUploads)
		case a.Size > maxArchive:
			file.Problem = errArchiveLong.Error()
		default:
			if err := r.readUpload(ctx, &file); err != nil {
				return nil, err
			}
		}
		files = append(files, file)
	}
	return files, err
}

// runURL is the page of a run of the head.
func (l *look) runURL(id int64) string {
	for i := range l.snap.Runs {
		if l.snap.Runs[i].ID == id {
			return l.snap.Runs[i].URL
		}
	}
	return ""
}

// upload is an artifact as an earlier look has read it; nil if none has.
func (o *observed) upload(u quorum.UploadName, id int64) *quorum.Upload {
	files := o.uploads[u].files
	for i := range files {
		if files[i].ID == id && !files[i].Expired {
			return &files[i]
		}
	}
	return nil
}

// readUpload downloads an artifact and unpacks its one file. What is wrong with it stands in the result: only GitHub's own faults
// are errors.
func (r pullReader) readUpload(ctx context.Context, file *quorum.Upload) error {
	archive, err := r.client.Archive(ctx, r.repoPath("actions", "artifacts", strconv.FormatInt(file.ID, 10), "zip"), maxArchive)
	switch {
	case client.IsGone(err), client.IsNotFound(err):
		file.Expired = true
		return nil
	case errors.Is(err, client.ErrTooLong):
		file.Problem = errArchiveLong.Error()
		return nil
	case err != nil:
		return err
	}
	if file.Content, err = unpackFile(archive); err != nil {
		file.Problem = err.Error()
	}
	return nil
}

// What is wrong with an archive, as sentences for users.
var (
	errArchive     = errors.New("the artifact is no ZIP archive that can be read")
	errArchiveLong = fmt.Errorf("the artifact is longer than %d KiB", maxArtifact>>10)
	errOneFile     = errors.New("the artifact must hold exactly one file")
)

// unpackFile returns the one regular file of a ZIP archive. It takes no more memory than the archive and the file may have.
func unpackFile(archive []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	switch {
	case err != nil && !errors.Is(err, zip.ErrInsecurePath): // where it would be unpacked does not matter: nothing is
		return nil, errArchive
	case len(z.File) != 1 || !z.File[0].Mode().IsRegular():
		return nil, errOneFile
	case z.File[0].UncompressedSize64 > maxArtifact:
		return nil, errArchiveLong
	}
	f, err := z.File[0].Open()
	if err != nil {
		return nil, errArchive
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxArtifact+1))
	switch {
	case len(content) > maxArtifact: // it said less in its directory
		return nil, errArchiveLong
	case err != nil:
		return nil, errArchive
	}
	return content, nil
}
