package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/oci"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/toolchain"
)

// ctr runs containerd's client in the namespace that the kubelet uses.
func (c *Cluster) ctr(ctx context.Context, args ...string) (string, error) {
	return run(exec.CommandContext(ctx, c.Layout.Program("ctr"),
		append([]string{"--address", c.Config.ContainerdSocket(), "--namespace", "k8s.io"}, args...)...))
}

func run(cmd *exec.Cmd) (string, error) {
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, strings.TrimSpace(messages.String()))
	}
	return out.String(), nil
}

// loadBaseImages imports the images that every cluster has, unless it has them.
func (c *Cluster) loadBaseImages(ctx context.Context) error {
	pause, err1 := oci.Pause(c.Layout.Program("pause"), runtime.GOARCH)
	busybox, err2 := oci.Busybox(toolchain.StaticBusybox(), runtime.GOARCH)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	present, err := c.images(ctx)
	if err != nil {
		return err
	}
	for _, image := range []oci.Image{pause, busybox} {
		encoded, err := image.Encode()
		if err != nil {
			return err
		}
		if present[image.Name] == encoded.Digest.String() {
			continue
		}
		if err := c.importEncoded(ctx, encoded); err != nil {
			return fmt.Errorf("load %s: %w", image.Name, err)
		}
		c.console.Printf("Loaded the image %s", image.Name)
	}
	return nil
}

func (c *Cluster) importEncoded(ctx context.Context, image oci.Encoded) (err error) {
	archive, err := os.CreateTemp(c.Config.RunDir(), "image-*.tar")
	if err != nil {
		return fmt.Errorf("create an archive: %w", err)
	}
	defer func() { err = errors.Join(err, archive.Close(), os.Remove(archive.Name())) }()
	if _, err := image.WriteTo(archive); err != nil {
		return err
	}
	_, err = c.ctr(ctx, "images", "import", archive.Name())
	return err
}

// Load imports OCI archives, and drops images that lost their name by it.
func (c *Cluster) Load(ctx context.Context, archives ...string) error {
	for _, archive := range archives {
		step := c.console.Start("Loading %s", archive)
		if _, err := c.ctr(ctx, "images", "import", archive); err != nil {
			return fmt.Errorf("load %s: %w", archive, err)
		}
		step.Done("done")
	}
	return c.dropUnnamed(ctx)
}

// images maps the names of all images to their digests.
func (c *Cluster) images(ctx context.Context) (map[string]string, error) {
	listing, err := c.ctr(ctx, "images", "list")
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	return parseImages(listing), nil
}

// parseImages reads a table of which the first and the third column are the
// name and the digest.
func parseImages(listing string) map[string]string {
	images := map[string]string{}
	for line := range strings.Lines(listing) {
		if fields := strings.Fields(line); len(fields) >= 3 && fields[0] != "REF" {
			images[fields[0]] = fields[2]
		}
	}
	return images
}

// dropUnnamed removes the images whose name was given to a newer one. The
// runtime keeps such an image under the digest of its configuration, and would
// keep it, and its disk space, for good. Running containers keep what they use.
func (c *Cluster) dropUnnamed(ctx context.Context) error {
	images, err := c.images(ctx)
	if err != nil {
		return err
	}
	for _, name := range unnamed(images) {
		if _, err := c.ctr(ctx, "images", "remove", name); err != nil {
			return fmt.Errorf("remove the image %s: %w", name, err)
		}
	}
	return nil
}

// unnamed selects the digest-named images that no proper name shares a digest with.
func unnamed(images map[string]string) []string {
	named := map[string]bool{}
	for name, digest := range images {
		if !strings.HasPrefix(name, "sha256:") {
			named[digest] = true
		}
	}
	var found []string
	for name, digest := range images {
		if strings.HasPrefix(name, "sha256:") && !named[digest] {
			found = append(found, name)
		}
	}
	return found
}
