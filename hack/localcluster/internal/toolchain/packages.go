package toolchain

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/progress"
)

// Package is a distribution package, with Debian's name for it, and how to see
// that it is there.
type Package struct {
	Name    string
	Present func() bool
}

// cniDirs is where distributions and people put the network plugins.
var cniDirs = [...]string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// RuntimePackages are needed to run a cluster.
func RuntimePackages() []Package {
	return []Package{
		{"runc", onPath("runc")},
		{"containernetworking-plugins", func() bool { return CNIDir() != "" }},
		{"busybox-static", func() bool { return StaticBusybox() != "" }},
		{"iproute2", onPath("ip")},
		{"mount", onPath("mount")},
	}
}

// ImagePackages are needed to build images.
func ImagePackages() []Package {
	return []Package{{"buildah", onPath("buildah")}}
}

func onPath(program string) func() bool {
	return func() bool {
		_, err := exec.LookPath(program)
		return err == nil
	}
}

// CNIDir is the directory of the network plugins, or empty.
func CNIDir() string {
	for _, dir := range cniDirs {
		if isFile(filepath.Join(dir, "bridge")) && isFile(filepath.Join(dir, "host-local")) {
			return dir
		}
	}
	return ""
}

// StaticBusybox is the path of a busybox that runs without any library, or empty.
func StaticBusybox() string {
	for _, path := range []string{"/usr/bin/busybox", "/bin/busybox"} {
		if isStatic(path) {
			return path
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isStatic(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}

// Ensure installs the packages that are missing, where it can.
func Ensure(ctx context.Context, console *progress.Console, packages []Package) error {
	missing := absent(packages)
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("missing packages: %s\ninstall them as root, on Debian or Ubuntu with\n  apt-get update && apt-get install --no-install-recommends %s", names, names)
	}
	step := console.Start("Installing the packages %s", names)
	if err := install(ctx, missing); err != nil {
		return fmt.Errorf("install packages %s: %w", names, err)
	}
	if still := absent(packages); len(still) > 0 {
		return fmt.Errorf("packages %s are installed but their programs are not where they belong", strings.Join(still, " "))
	}
	step.Done("done")
	return nil
}

func absent(packages []Package) []string {
	var missing []string
	for _, p := range packages {
		if !p.Present() {
			missing = append(missing, p.Name)
		}
	}
	return missing
}

// install reads the package lists again if it fails with those that are there:
// they may be missing, or older than the archive.
func install(ctx context.Context, names []string) error {
	args := append([]string{"install", "-y", "--no-install-recommends"}, names...)
	if aptGet(ctx, args...) == nil {
		return nil
	}
	if err := aptGet(ctx, "update"); err != nil {
		return err
	}
	return aptGet(ctx, args...)
}

func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("apt-get %s: %w", strings.Join(args, " "), err), errors.New(strings.TrimSpace(said.String())))
	}
	return nil
}
