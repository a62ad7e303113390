package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/toolchain"
)

// ImageBuild is a Dockerfile to build into the cluster.
type ImageBuild struct {
	File    string
	Context string
	Tag     string
	Args    []string // NAME=value; BASE is scratch unless given
}

// BuildImage builds an image without a registry and without privileges of a
// container engine, and loads it into the cluster.
func (c *Cluster) BuildImage(ctx context.Context, b ImageBuild) (err error) {
	if err := toolchain.Ensure(ctx, c.console, toolchain.ImagePackages()); err != nil {
		return err
	}
	// Storage of its own for each build: nothing piles up, and two builds at
	// once don't meet. Images of one copied binary have no layers worth a cache.
	if err := os.MkdirAll(c.Layout.Data("buildah"), 0o700); err != nil {
		return fmt.Errorf("build %s: %w", b.Tag, err)
	}
	storage, err := os.MkdirTemp(c.Layout.Data("buildah"), "build-*")
	if err != nil {
		return fmt.Errorf("build %s: %w", b.Tag, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(storage)) }()
	// buildah reads a relative path from the context, not from here.
	if b.File, err = filepath.Abs(b.File); err != nil {
		return fmt.Errorf("build %s: %w", b.Tag, err)
	}
	step := c.console.Start("Building the image %s", b.Tag)
	archive := filepath.Join(storage, "image.tar")
	if err := c.buildah(ctx, storage, b.buildArgs()...); err != nil {
		return fmt.Errorf("build %s: %w", b.Tag, err)
	}
	if err := c.buildah(ctx, storage, "push", b.Tag, "oci-archive:"+archive+":"+b.Tag); err != nil {
		return fmt.Errorf("export %s: %w", b.Tag, err)
	}
	step.Done("done")
	return c.Load(ctx, archive)
}

func (b ImageBuild) buildArgs() []string {
	args := []string{"bud", "--isolation", "chroot", "--format", "oci", "--file", b.File, "--tag", b.Tag, "--build-arg", "BASE=scratch"}
	for _, a := range b.Args {
		args = append(args, "--build-arg", a)
	}
	return append(args, b.Context)
}

func (c *Cluster) buildah(ctx context.Context, storage string, args ...string) error {
	global := []string{
		"--storage-driver", "vfs",
		"--root", filepath.Join(storage, "root"),
		"--runroot", filepath.Join(storage, "run"),
	}
	cmd := exec.CommandContext(ctx, "buildah", append(global, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+storage)
	_, err := run(cmd)
	return err
}
