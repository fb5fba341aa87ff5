package unzip_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/github/unzip"
)

// zipped packs files, given as names and contents in turn.
func zipped(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lying packs one file whose directory tells another size of it.
func lying(t testing.TB, size uint64, content []byte) []byte {
	t.Helper()
	var b, packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(&b)
	raw, err := z.CreateRaw(&zip.FileHeader{
		Name: "verdict.json", Method: zip.Deflate, CompressedSize64: uint64(packed.Len()), UncompressedSize64: size,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Write(packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOneFile(t *testing.T) {
	link := func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: "verdict.json"}
		h.SetMode(0o777 | 1<<27) // a symbolic link, as fs.ModeSymlink
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, "/etc/passwd")
		z.Close()
		return b.Bytes()
	}()
	for name, c := range map[string]struct {
		archive []byte
		want    error
	}{
		"one file":                           {zipped(t, "verdict.json", "{}"), nil},
		"a name that leads out":              {zipped(t, "../../etc/cron.d/x", "{}"), nil}, // nothing is written
		"an absolute name":                   {zipped(t, "/verdict.json", "{}"), nil},
		"none":                               {zipped(t), unzip.ErrNotOneFile},
		"two files":                          {zipped(t, "a", "{}", "b", "{}"), unzip.ErrNotOneFile},
		"a folder":                           {zipped(t, "a/", ""), unzip.ErrNotOneFile},
		"a folder beside it":                 {zipped(t, "a/", "", "a/b", "{}"), unzip.ErrNotOneFile},
		"a link":                             {link, unzip.ErrNotOneFile},
		"no archive":                         {[]byte(`{"verdict": "approve"}`), unzip.ErrNoArchive},
		"nothing":                            {nil, unzip.ErrNoArchive},
		"a long file":                        {zipped(t, "a", strings.Repeat("x", unzip.MaxFile+1)), unzip.ErrTooLong},
		"a file of just the size":            {zipped(t, "a", strings.Repeat("x", unzip.MaxFile)), nil},
		"a file that is longer than it says": {lying(t, 2, bytes.Repeat([]byte("x"), 64<<20)), unzip.ErrNoArchive},
		"a file that says too much":          {lying(t, 1<<62, []byte("{}")), unzip.ErrTooLong},
		"cut off":                            {zipped(t, "a", strings.Repeat("{}", 500))[:60], unzip.ErrNoArchive},
		"1,001 files":                        {manyFiles(t, 1001), unzip.ErrNotOneFile},
	} {
		content, err := unzip.OneFile(c.archive)
		if !errors.Is(err, c.want) || err == nil && len(content) == 0 {
			t.Errorf("%s: %d bytes, %v, want %v", name, len(content), err, c.want)
		}
	}
}

func manyFiles(t testing.TB, n int) []byte {
	t.Helper()
	var files []string
	for i := range n {
		files = append(files, fmt.Sprint(i), "")
	}
	return zipped(t, files...)
}

// 500 archives by somebody who means harm: none takes more memory than an archive and a file of the longest may.
func TestHostileArchives(t *testing.T) {
	seed := uint64(19)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, seed))
	kinds := [][]byte{
		zipped(t, "verdict.json", strings.Repeat("[", unzip.MaxFile)), lying(t, 2, bytes.Repeat([]byte{0}, 32<<20)),
		manyFiles(t, 3000), zipped(t, "verdict.json", "{}"), lying(t, unzip.MaxFile, bytes.Repeat([]byte{0}, 32<<20)),
	}
	var before, after runtime.MemStats
	for i := range 500 {
		archive := bytes.Clone(kinds[i%len(kinds)])
		for range r.IntN(4) {
			at := r.IntN(len(archive))
			if r.IntN(2) == 0 { // in the directory at the end
				at = len(archive) - 1 - r.IntN(min(len(archive), 200))
			}
			archive[at] = byte(r.UintN(256))
		}
		if n := len(archive); i%7 == 0 { // it says that it holds very many
			binary.LittleEndian.PutUint16(archive[n-12:], 0xffff)
			binary.LittleEndian.PutUint16(archive[n-14:], 0xffff)
		}
		runtime.ReadMemStats(&before)
		content, _ := unzip.OneFile(archive)
		runtime.ReadMemStats(&after)
		if len(content) > unzip.MaxFile {
			t.Fatalf("archive %d gave %d bytes", i, len(content))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("archive %d took %d MB", i, took>>20)
		}
	}
}

func FuzzOneFile(f *testing.F) {
	f.Add(zipped(f, "verdict.json", "{}"))
	f.Add(lying(f, 2, []byte("{}{}{}")))
	f.Fuzz(func(t *testing.T, archive []byte) {
		if content, err := unzip.OneFile(archive); len(content) > unzip.MaxFile || err != nil && content != nil {
			t.Errorf("%d bytes, %v", len(content), err)
		}
	})
}
