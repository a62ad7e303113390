package toolchain

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/progress"
)

// Builder builds tool modules into a directory.
type Builder struct {
	Source  string // the launcher's own directory
	Bin     string
	Console *progress.Console
}

// Build brings the programs of the modules up to date, one module after the
// other: each uses all cores.
func (b Builder) Build(ctx context.Context, modules ...Module) error {
	goVersion, err := b.goVersion(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(b.Bin, ".stamps"), 0o755); err != nil {
		return fmt.Errorf("create the program directory: %w", err)
	}
	for _, m := range modules {
		if err := b.build(ctx, m, goVersion); err != nil {
			return err
		}
	}
	return nil
}

func (b Builder) goVersion(ctx context.Context) (string, error) {
	if b.Source == "" {
		return "", errors.New("the programs must be built, and the sources are not here: run inside a checkout of the toolcall operator")
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("building the cluster needs the Go toolchain (https://go.dev/dl) on the PATH: %w", err)
	}
	return output(b.goCommand(ctx, ".", "env", "GOVERSION"))
}

func (b Builder) build(ctx context.Context, m Module, goVersion string) error {
	stamp, err := b.fingerprint(m, goVersion)
	if err != nil {
		return fmt.Errorf("build %s: %w", m.Title, err)
	}
	if b.upToDate(m, stamp) {
		return nil
	}
	version := ""
	if m.Path != "" {
		if version, err = output(b.goCommand(ctx, m.Dir, "list", "-m", "-f", "{{.Version}}", m.Path)); err != nil {
			return fmt.Errorf("build %s: %w", m.Title, err)
		}
	}
	title := strings.TrimSpace("Building " + m.Title + " " + version)
	if m.Estimate != "" && !b.built(m) {
		title += " (first time only, " + m.Estimate + ")"
	}
	step := b.Console.Start("%s", title)
	if err := b.compile(ctx, m, version, step); err != nil {
		return fmt.Errorf("build %s: %w", m.Title, err)
	}
	step.Done("done")
	if err := b.link(m); err != nil {
		return fmt.Errorf("build %s: %w", m.Title, err)
	}
	return os.WriteFile(b.stampFile(m), []byte(stamp), 0o644)
}

func (b Builder) compile(ctx context.Context, m Module, version string, step *progress.Step) error {
	packages := []string{"-tags", m.Tags}
	for _, t := range m.Targets {
		packages = append(packages, t.Package)
	}
	step.Update("reading modules")
	listed, err := output(b.goCommand(ctx, m.Dir, append([]string{"list", "-deps"}, packages...)...))
	if err != nil {
		return err
	}
	counter := &counter{total: len(strings.Fields(listed)), step: step}
	for _, t := range m.Targets {
		cmd := b.goCommand(ctx, m.Dir, "build", "-v", "-buildvcs=false", "-tags", m.Tags,
			"-ldflags", m.linkerFlags(version), "-o", filepath.Join(b.Bin, t.Output), t.Package)
		if err := counter.run(cmd); err != nil {
			return err
		}
	}
	return nil
}

// goCommand runs go in a tool module, untouched by the caller's settings:
// static programs, no workspace, nothing but what go.sum pins.
func (b Builder) goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(b.Source, dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	return cmd
}

// link gives a program its further names.
func (b Builder) link(m Module) error {
	for _, t := range m.Targets {
		for _, name := range t.Links {
			path := filepath.Join(b.Bin, name)
			if target, err := os.Readlink(path); err == nil && target == t.Output {
				continue
			}
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("replace %s: %w", path, err)
			}
			if err := os.Symlink(t.Output, path); err != nil {
				return fmt.Errorf("name %s: %w", name, err)
			}
		}
	}
	return nil
}

// fingerprint covers all that a build depends on. Asking it is far quicker than
// asking go, which would load thousands of packages.
func (b Builder) fingerprint(m Module, goVersion string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, goVersion, runtime.GOARCH, m.Tags, m.Targets, m.linkerFlags(""))
	root := filepath.Join(b.Source, m.Dir)
	if m.Dir == "." {
		root = filepath.Join(root, m.Targets[0].Package) // standard library only
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintln(sum, d.Name(), len(content))
		sum.Write(content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the sources: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (b Builder) stampFile(m Module) string {
	return filepath.Join(b.Bin, ".stamps", strings.ToLower(m.Title))
}

func (b Builder) upToDate(m Module, stamp string) bool {
	recorded, err := os.ReadFile(b.stampFile(m))
	return err == nil && string(recorded) == stamp && b.built(m)
}

// built says whether all the module's programs exist, in whatever version.
func (b Builder) built(m Module) bool {
	for _, t := range m.Targets {
		for _, name := range append([]string{t.Output}, t.Links...) {
			if _, err := os.Stat(filepath.Join(b.Bin, name)); err != nil {
				return false
			}
		}
	}
	return true
}

// output runs a command for its standard output; its error holds the messages.
func output(cmd *exec.Cmd) (string, error) {
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(messages.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// counter follows a verbose build, which names each package that it compiles.
type counter struct {
	step        *progress.Step
	done, total int
}

func (c *counter) run(cmd *exec.Cmd) error {
	messages, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("follow the build: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the build: %w", err)
	}
	said := c.follow(messages)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said)
	}
	return nil
}

// follow counts packages and returns everything else that was said.
func (c *counter) follow(messages io.Reader) string {
	var said []string
	lines := bufio.NewScanner(messages)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "go: downloading "):
			c.step.Update("downloading %s", strings.Fields(line)[2])
			continue
		case strings.ContainsAny(line, " \t#"):
			said = append(said, line)
			continue
		}
		c.done++
		if c.done < c.total {
			c.step.Update("%d/%d packages", c.done, c.total)
		} else {
			c.step.Update("linking")
		}
	}
	return strings.Join(said, "\n")
}
