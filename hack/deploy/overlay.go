package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// overlay is what one deployment adds to the configuration under config/.
type overlay struct {
	Base    string // of the kustomization it is laid over
	Image   string
	Program string // checksum of bin/manager; a new one replaces the pod, though the image's name is the same
	Local   *localValues
}

// localValues differ from one local cluster to the next.
type localValues struct {
	APIPort, MetricsPort, ProbePort int
}

//go:embed kustomization.yaml.tmpl
var kustomization string

// write makes the overlay's directory, two levels below root, and returns it.
func (o overlay) write(root string) (string, error) {
	t, err := template.New("kustomization").Parse(kustomization)
	if err != nil {
		return "", fmt.Errorf("parse the overlay: %w", err)
	}
	dir := filepath.Join(root, "bin", "overlay")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the overlay: %w", err)
	}
	file, err := os.Create(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		return "", fmt.Errorf("make the overlay: %w", err)
	}
	if err := errors.Join(t.Execute(file, o), file.Close()); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return dir, nil
}

// Repository is the image's name without its tag or digest.
func (o overlay) Repository() string {
	name, _, _ := strings.Cut(o.Image, "@")
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		name = name[:colon]
	}
	return name
}

// Version is the image's tag or digest, as a field of a kustomization.
func (o overlay) Version() string {
	rest := strings.TrimPrefix(o.Image, o.Repository())
	if _, digest, found := strings.Cut(rest, "@"); found {
		return "digest: " + digest
	}
	tag := strings.TrimPrefix(rest, ":")
	if tag == "" {
		tag = "latest"
	}
	return fmt.Sprintf("newTag: %q", tag)
}

func (s settings) program() string { return filepath.Join(s.root, "bin", "manager") }

func checksum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the operator is not built: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
