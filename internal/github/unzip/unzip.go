// Package unzip unpacks a ZIP archive that a stranger may have made. It promises to take no more memory than the
// archive and one file of bounded size need, and to write nothing anywhere.
package unzip

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	MaxFile    = 1 << 20          // bytes of the file in an archive
	MaxArchive = MaxFile + 64<<10 // bytes of the archive: what cannot be packed takes a little more than it is
)

// What is wrong with an archive, as sentences for users.
var (
	ErrNoArchive  = errors.New("the artifact is no ZIP archive that can be read")
	ErrTooLong    = fmt.Errorf("the artifact is longer than %d KiB", MaxFile>>10)
	ErrNotOneFile = errors.New("the artifact must hold exactly one file")
)

// OneFile returns the one regular file of a ZIP archive. It takes no more memory than the archive and the file may
// have.
func OneFile(archive []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	switch {
	case err != nil && !errors.Is(err, zip.ErrInsecurePath): // where it would be unpacked does not matter: nothing is
		return nil, ErrNoArchive
	case len(z.File) != 1 || !z.File[0].Mode().IsRegular():
		return nil, ErrNotOneFile
	case z.File[0].UncompressedSize64 > MaxFile:
		return nil, ErrTooLong
	}
	f, err := z.File[0].Open()
	if err != nil {
		return nil, ErrNoArchive
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case len(content) > MaxFile: // it said less in its directory
		return nil, ErrTooLong
	case err != nil:
		return nil, ErrNoArchive
	}
	return content, nil
}
