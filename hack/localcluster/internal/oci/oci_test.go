package oci

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

func sample() Image {
	return Image{
		Name: "localhost/sample:dev", Architecture: "amd64",
		Config: v1.ImageConfig{Cmd: []string{"sh"}},
		Files:  busyboxFiles([]byte("program"), []string{"bin/busybox", "bin/sh", "usr/bin/env"}),
	}
}

func TestArchiveIsComplete(t *testing.T) {
	encoded, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	written, err := encoded.WriteTo(&archive)
	if err != nil || written != int64(archive.Len()) {
		t.Fatalf("wrote %d bytes, said %d, error %v", archive.Len(), written, err)
	}
	files := contents(t, archive.Bytes())

	var index v1.Index
	decode(t, files["index.json"], &index)
	if got := index.Manifests[0].Annotations[imageName]; got != "localhost/sample:dev" {
		t.Errorf("the image is named %q", got)
	}
	var manifest v1.Manifest
	decode(t, blobOf(t, files, index.Manifests[0]), &manifest)
	if encoded.Digest != index.Manifests[0].Digest {
		t.Errorf("the digest is %s, the index says %s", encoded.Digest, index.Manifests[0].Digest)
	}
	var config v1.Image
	decode(t, blobOf(t, files, manifest.Config), &config)
	layer := blobOf(t, files, manifest.Layers[0])
	if config.RootFS.DiffIDs[0] != digest.FromBytes(layer) {
		t.Error("the configuration names another layer")
	}
	if string(contents(t, layer)["bin/busybox"]) != "program" {
		t.Error("the layer lacks its program")
	}
}

func TestEncodingIsReproducible(t *testing.T) {
	one, err1 := sample().Encode()
	two, err2 := sample().Encode()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if one.Digest != two.Digest {
		t.Error("the same image has two digests")
	}
	changed := sample()
	changed.Files[0].Mode ^= 0o001
	three, err := changed.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if one.Digest == three.Digest {
		t.Error("another image has the same digest")
	}
}

func TestBusyboxFiles(t *testing.T) {
	seen := map[string]File{}
	for _, f := range busyboxFiles([]byte("program"), []string{"bin/busybox", "bin/sh", "usr/bin/env"}) {
		if _, twice := seen[f.Path]; twice {
			t.Errorf("%s is there twice", f.Path)
		}
		seen[f.Path] = f
	}
	if tmp := seen["tmp"].header(); tmp.Mode != 0o1777 || tmp.Typeflag != tar.TypeDir {
		t.Errorf("/tmp has mode %o, type %c", tmp.Mode, tmp.Typeflag)
	}
	if link := seen["usr/bin/env"].header(); link.Typeflag != tar.TypeSymlink || link.Linkname != "/bin/busybox" {
		t.Errorf("env is a %c to %q", link.Typeflag, link.Linkname)
	}
	if seen["bin/busybox"].Link != "" {
		t.Error("busybox is a link to itself")
	}
	for _, dir := range []string{"usr", "usr/bin", "etc", "var"} {
		if seen[dir].Mode&fs.ModeDir == 0 {
			t.Errorf("the directory %s is missing", dir)
		}
	}
}

func contents(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	reader := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = content
	}
}

func blobOf(t *testing.T, files map[string][]byte, d v1.Descriptor) []byte {
	t.Helper()
	content, ok := files["blobs/sha256/"+d.Digest.Encoded()]
	if !ok || int64(len(content)) != d.Size || digest.FromBytes(content) != d.Digest {
		t.Fatalf("blob %s is missing or differs from its description", d.Digest)
	}
	return content
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}
