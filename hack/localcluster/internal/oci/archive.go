// Package oci writes container images as OCI archives, so that the cluster has
// images without a registry.
package oci

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// imageName is the annotation from which containerd takes an image's name.
const imageName = "io.containerd.image.name"

// File is one entry of an image's file system: a directory, a symbolic link if
// Link is set, or a regular file.
type File struct {
	Path    string // relative to the root, without a leading slash
	Mode    fs.FileMode
	Link    string
	Content []byte
}

// Image is an image of one layer.
type Image struct {
	Name         string
	Architecture string
	Config       v1.ImageConfig
	Files        []File
}

// Encoded is an image as an archive holds it. The same image always gives the
// same bytes.
type Encoded struct {
	Digest digest.Digest // of the manifest
	blobs  []blob
	index  []byte
}

type blob struct {
	v1.Descriptor
	content []byte
}

// Encode builds the image's layer, configuration, manifest and index.
func (i Image) Encode() (Encoded, error) {
	layerBytes, err := encodeLayer(i.Files)
	if err != nil {
		return Encoded{}, fmt.Errorf("image %s: layer: %w", i.Name, err)
	}
	layer := newBlob(v1.MediaTypeImageLayer, layerBytes)
	config, err := newJSONBlob(v1.MediaTypeImageConfig, v1.Image{
		Platform: v1.Platform{OS: "linux", Architecture: i.Architecture},
		Config:   i.Config,
		RootFS:   v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{layer.Digest}},
	})
	if err != nil {
		return Encoded{}, fmt.Errorf("image %s: configuration: %w", i.Name, err)
	}
	manifest, err := newJSONBlob(v1.MediaTypeImageManifest, v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: v1.MediaTypeImageManifest,
		Config:    config.Descriptor,
		Layers:    []v1.Descriptor{layer.Descriptor},
	})
	if err != nil {
		return Encoded{}, fmt.Errorf("image %s: manifest: %w", i.Name, err)
	}
	entry := manifest.Descriptor
	entry.Annotations = map[string]string{imageName: i.Name}
	index, err := json.Marshal(v1.Index{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: v1.MediaTypeImageIndex,
		Manifests: []v1.Descriptor{entry},
	})
	if err != nil {
		return Encoded{}, fmt.Errorf("image %s: index: %w", i.Name, err)
	}
	return Encoded{Digest: manifest.Digest, blobs: []blob{layer, config, manifest}, index: index}, nil
}

// WriteTo writes the archive.
func (e Encoded) WriteTo(w io.Writer) (int64, error) {
	counter := &countingWriter{w: w}
	archive := tar.NewWriter(counter)
	files := []File{
		{Path: v1.ImageLayoutFile, Mode: 0o644, Content: []byte(`{"imageLayoutVersion":"` + v1.ImageLayoutVersion + `"}`)},
		{Path: v1.ImageIndexFile, Mode: 0o644, Content: e.index},
	}
	for _, b := range e.blobs {
		path := "blobs/" + b.Digest.Algorithm().String() + "/" + b.Digest.Encoded()
		files = append(files, File{Path: path, Mode: 0o644, Content: b.content})
	}
	if err := writeFiles(archive, files); err != nil {
		return counter.n, fmt.Errorf("write the archive: %w", err)
	}
	return counter.n, nil
}

func encodeLayer(files []File) ([]byte, error) {
	var buffer bytes.Buffer
	if err := writeFiles(tar.NewWriter(&buffer), files); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func writeFiles(archive *tar.Writer, files []File) error {
	for _, f := range files {
		if err := archive.WriteHeader(f.header()); err != nil {
			return err
		}
		if _, err := archive.Write(f.Content); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (f File) header() *tar.Header {
	h := &tar.Header{
		Name:     f.Path,
		Typeflag: tar.TypeReg,
		Mode:     int64(f.Mode.Perm()),
		Size:     int64(len(f.Content)),
		ModTime:  time.Unix(0, 0), // equal content, equal digest
		Format:   tar.FormatPAX,
	}
	if f.Mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000
	}
	switch {
	case f.Link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, f.Link
	case f.Mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, f.Path+"/"
	}
	return h
}

func newJSONBlob(mediaType string, value any) (blob, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return blob{}, err
	}
	return newBlob(mediaType, raw), nil
}

func newBlob(mediaType string, content []byte) blob {
	return blob{
		Descriptor: v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))},
		content:    content,
	}
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
