package coordinator_test

// The daemon's image, as ko builds it from .ko.yaml. ko is no part of `go test ./...`: whoever has it says where.
//
//	go test . -run TestTheImage -args -ko="$(command -v ko)"       builds it on a base made here, and looks into it
//	go test . -run TestTheImage -args -image=DIR                   looks into an OCI layout that was built before

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var (
	koProgram   = flag.String("ko", "", "ko, which builds the image for this machine")
	imageLayout = flag.String("image", "", "an OCI layout with the image")
)

// The media types of an image.
const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociConfig   = "application/vnd.oci.image.config.v1+json"
	ociLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// An ociPart names content by its digest.
type ociPart struct {
	MediaType string       `json:"mediaType"`
	Digest    string       `json:"digest"`
	Size      int64        `json:"size"`
	Platform  *ociPlatform `json:"platform,omitempty"`
}

type ociPlatform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
}

// ociList is an index or a manifest.
type ociList struct {
	SchemaVersion int       `json:"schemaVersion"`
	MediaType     string    `json:"mediaType"`
	Manifests     []ociPart `json:"manifests,omitempty"`
	Config        *ociPart  `json:"config,omitempty"`
	Layers        []ociPart `json:"layers,omitempty"`
}

// imageConfig is what an image says of how it is run.
type imageConfig struct {
	ociPlatform

	Config struct {
		User       string
		Entrypoint []string
		Env        []string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// A baseRegistry serves one image, which has what a program without a C library needs, and no program: it stands in for the
// base of .ko.yaml where that cannot be reached.
type baseRegistry struct {
	blobs map[string][]byte // by digest
	index []byte
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// add keeps content, and returns its name.
func (r *baseRegistry) add(mediaType string, content []byte) ociPart {
	digest := digestOf(content)
	r.blobs[digest] = content
	return ociPart{MediaType: mediaType, Digest: digest, Size: int64(len(content))}
}

func newBaseRegistry(t *testing.T, architecture string) *baseRegistry {
	t.Helper()
	r := &baseRegistry{blobs: map[string][]byte{}}
	var unpacked, packed bytes.Buffer
	archive := tar.NewWriter(&unpacked)
	for name, text := range map[string]string{
		"etc/passwd":                        "nonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin\n",
		"etc/ssl/certs/ca-certificates.crt": "the certificates of a real base\n",
	} {
		must(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := io.WriteString(archive, text)
		must(t, err)
	}
	must(t, archive.Close())
	zipper := gzip.NewWriter(&packed)
	_, err := zipper.Write(unpacked.Bytes())
	must(t, err)
	must(t, zipper.Close())

	config := imageConfig{ociPlatform: ociPlatform{"linux", architecture}}
	config.Config.User, config.RootFS.Type, config.RootFS.DiffIDs = "65532", "layers", []string{digestOf(unpacked.Bytes())}
	configPart := r.add(ociConfig, asJSON(t, config))
	layer := r.add(ociLayer, packed.Bytes())
	manifest := r.add(ociManifest, asJSON(t, ociList{SchemaVersion: 2, MediaType: ociManifest, Config: &configPart, Layers: []ociPart{layer}}))
	manifest.Platform = &config.ociPlatform
	r.index = asJSON(t, ociList{SchemaVersion: 2, MediaType: ociIndex, Manifests: []ociPart{manifest}})
	return r
}

func asJSON[T any](t *testing.T, value T) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return text
}

// ServeHTTP answers as a registry does, to whoever only pulls.
func (r *baseRegistry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	name := path.Base(req.URL.Path)
	content, known := r.blobs[name]
	mediaType := "application/octet-stream"
	switch {
	case req.URL.Path == "/v2/":
		return
	case strings.Contains(req.URL.Path, "/manifests/") && (name == "latest" || name == digestOf(r.index)):
		content, mediaType = r.index, ociIndex
	case !known:
		http.NotFound(w, req)
		return
	case strings.Contains(req.URL.Path, "/manifests/"):
		mediaType = ociManifest
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Docker-Content-Digest", digestOf(content))
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	if req.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}

// buildImage lets ko build the image of this machine's platform, and returns its layout.
func buildImage(t *testing.T) string {
	t.Helper()
	base := httptest.NewServer(newBaseRegistry(t, runtime.GOARCH))
	t.Cleanup(base.Close)
	layout, err := os.MkdirTemp("", "image") // not the test's own folder: ko takes no capital letter
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(layout) })
	build := exec.Command(*koProgram, "build", "--push=false", "--insecure-registry", "--sbom=none", "--platform=linux/"+runtime.GOARCH,
		"--oci-layout-path="+layout, "./cmd/coordinator")
	build.Env = append(os.Environ(), "VERSION=v9.8.7", "KO_DOCKER_REPO=registry.invalid/coordinator", "KOCACHE="+t.TempDir(),
		"KO_DEFAULTBASEIMAGE="+strings.TrimPrefix(base.URL, "http://")+"/static:latest")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("ko: %v: %s", err, said)
	}
	return layout
}

// readPart reads what a layout has under a part's name, and believes no other content.
func readPart(t *testing.T, layout string, part ociPart) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(layout, "blobs", strings.Replace(part.Digest, ":", string(filepath.Separator), 1)))
	must(t, err)
	if digestOf(content) != part.Digest {
		t.Fatalf("%s holds something else", part.Digest)
	}
	return content
}

// imagesIn are the manifests of all images in a layout, also of an index in an index.
func imagesIn(t *testing.T, layout string, list ociList) (all []ociList) {
	t.Helper()
	for _, part := range list.Manifests {
		var inner ociList
		must(t, json.Unmarshal(readPart(t, layout, part), &inner))
		if inner.Config == nil {
			all = append(all, imagesIn(t, layout, inner)...)
			continue
		}
		all = append(all, inner)
	}
	return all
}

// The image holds one program, which runs as nobody of note and finds no shell.
func TestTheImage(t *testing.T) {
	layout := *imageLayout
	switch {
	case layout != "":
	case *koProgram != "":
		layout = buildImage(t)
	default:
		t.Skip("neither -ko nor -image is given")
	}
	text, err := os.ReadFile(filepath.Join(layout, "index.json"))
	must(t, err)
	var index ociList
	must(t, json.Unmarshal(text, &index))
	images := imagesIn(t, layout, index)
	if len(images) == 0 {
		t.Fatalf("%s holds no image: %s", layout, text)
	}
	for _, image := range images {
		holdImage(t, layout, image)
	}
}

// holdImage holds one image of a layout against the laws, and starts its program if it is of this machine.
func holdImage(t *testing.T, layout string, image ociList) {
	t.Helper()
	var config imageConfig
	must(t, json.Unmarshal(readPart(t, layout, *image.Config), &config))
	if user, _, _ := strings.Cut(config.Config.User, ":"); user != "65532" {
		t.Errorf("it runs as %q", config.Config.User)
	}
	if !slices.Equal(config.Config.Entrypoint, []string{"/ko-app/coordinator"}) {
		t.Errorf("it starts %q", config.Config.Entrypoint)
	}
	programs, files := 0, 0
	for _, layer := range image.Layers {
		unzipped, err := gzip.NewReader(bytes.NewReader(readPart(t, layout, layer)))
		must(t, err)
		for archive := tar.NewReader(unzipped); ; {
			h, err := archive.Next()
			if err == io.EOF {
				break
			}
			must(t, err)
			name := "/" + strings.TrimPrefix(path.Clean(h.Name), "/")
			switch {
			case h.Typeflag != tar.TypeReg:
				continue
			case h.Mode&0o6000 != 0:
				t.Errorf("%s gives its caller rights: %o", name, h.Mode)
			case slices.Contains([]string{"sh", "bash", "dash", "ash", "busybox", "apk", "apt", "dpkg"}, path.Base(name)):
				t.Errorf("there is %s", name)
			case name == "/ko-app/coordinator":
				programs++
				if config.Architecture == runtime.GOARCH && runtime.GOOS == "linux" {
					startFromImage(t, archive)
				}
			}
			files++
		}
	}
	if programs != 1 {
		t.Errorf("it has the program %d times", programs)
	}
	t.Logf("%s/%s: user %s, %d files, no shell, the program once", config.OS, config.Architecture, config.Config.User, files)
}

// startFromImage starts the program that an image holds: it has the daemon, and the image's version.
func startFromImage(t *testing.T, content io.Reader) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "coordinator")
	file, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(file, content)
	must(t, err)
	must(t, file.Close())
	version, err := exec.Command(program, "version").CombinedOutput()
	must(t, err)
	if *koProgram != "" && !bytes.Contains(version, []byte("v9.8.7")) {
		t.Errorf("its version is %s", version)
	}
	if help, err := exec.Command(program, "serve", "--help").CombinedOutput(); err != nil || !bytes.Contains(help, []byte("--admin-listen")) {
		t.Errorf("it has no daemon: %v: %s", err, help)
	}
}
