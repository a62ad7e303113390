// Package cgroup gives a cluster a cgroup of its own for all its pods, on
// hosts with cgroup v1 (one tree a controller) and v2 (one tree).
package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Host is the host's cgroup trees.
type Host struct {
	V2    bool
	trees []tree
}

type tree struct {
	path string
	v2   bool
}

// Detect finds the mounted trees. On a hybrid host the controllers are v1's and
// the v2 tree, which has none, is kept in step with them by the runtime.
func Detect() (Host, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return Host{}, fmt.Errorf("list mounts: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	trees, err := parseMounts(f)
	if err != nil {
		return Host{}, fmt.Errorf("list mounts: %w", err)
	}
	if len(trees) == 0 {
		return Host{}, errors.New("no cgroup tree is mounted below /sys/fs/cgroup")
	}
	h := Host{V2: true, trees: trees}
	for _, t := range trees {
		h.V2 = h.V2 && t.v2
	}
	return h, nil
}

func parseMounts(mountinfo io.Reader) ([]tree, error) {
	var trees []tree
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		// Optional fields stand between the options and the separator.
		mount, source, found := strings.Cut(lines.Text(), " - ")
		if !found {
			continue
		}
		path, kind := strings.Fields(mount)[4], strings.Fields(source)[0]
		if inside(path) && (kind == "cgroup" || kind == "cgroup2") {
			trees = append(trees, tree{path: path, v2: kind == "cgroup2"})
		}
	}
	return trees, lines.Err()
}

func inside(path string) bool {
	return path == "/sys/fs/cgroup" || strings.HasPrefix(path, "/sys/fs/cgroup/")
}

// Create makes the named cgroup in every tree, with all controllers that the
// kubelet manages.
func (h Host) Create(name string) error {
	if h.V2 {
		if err := h.enableControllers(); err != nil {
			return err
		}
	}
	for _, t := range h.trees {
		dir := filepath.Join(t.path, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("create cgroup: %w", err)
		}
		if err := initCPUSet(t.path, dir); err != nil {
			return fmt.Errorf("create cgroup: %w", err)
		}
	}
	return nil
}

// enableControllers passes the controllers of a v2 root on to its children.
func (h Host) enableControllers() error {
	root := h.trees[0].path
	raw, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read cgroup controllers: %w", err)
	}
	for controller := range strings.FieldsSeq(string(raw)) {
		switch controller {
		case "cpu", "cpuset", "memory", "pids", "io", "hugetlb":
		default:
			continue
		}
		err := os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
		if errors.Is(err, syscall.EBUSY) {
			return fmt.Errorf("cgroup controller %s can't be enabled: %s is not the host's real root cgroup and holds processes; move them to a child cgroup first", controller, root)
		}
		if err != nil {
			return fmt.Errorf("enable cgroup controller %s: %w", controller, err)
		}
	}
	return nil
}

// initCPUSet copies the parent's CPUs and memory nodes: a new v1 cpuset has
// none, and no process can enter it.
func initCPUSet(parent, dir string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		current, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, os.ErrNotExist) || strings.TrimSpace(string(current)) != "" {
			continue // another controller, or set already
		}
		value, err := os.ReadFile(filepath.Join(parent, file))
		if errors.Is(err, os.ErrNotExist) {
			continue // a v2 root has no such file, and its children need none
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends every process in the named cgroup and below, and waits for them.
func (h Host) Kill(name string, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		left := 0
		for _, t := range h.trees {
			n, err := killTree(filepath.Join(t.path, name))
			if err != nil {
				return fmt.Errorf("end the pods' processes: %w", err)
			}
			left += n
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes in cgroup %s survived SIGKILL for %s", left, name, limit)
		}
	}
}

// killTree signals every process below dir and returns how many there were.
// What it finds keeps its cgroup until it is gone, so a number read here is
// still the pod's own unless the process ended within these microseconds.
func killTree(dir string) (int, error) {
	found := 0
	err := walk(dir, func(cgroup string) error {
		// A frozen process does not die until it is thawed.
		_ = writeExisting(filepath.Join(cgroup, "freezer.state"), "THAWED")
		_ = writeExisting(filepath.Join(cgroup, "cgroup.freeze"), "0")
		raw, err := os.ReadFile(filepath.Join(cgroup, "cgroup.procs"))
		if err != nil {
			return ignoreGone(err)
		}
		for field := range strings.FieldsSeq(string(raw)) {
			pid, err := strconv.Atoi(field)
			if err != nil || pid <= 1 {
				continue // 0 is a process outside this PID namespace
			}
			found++
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d: %w", pid, err)
			}
		}
		return nil
	})
	return found, err
}

// Remove deletes the named cgroup and everything below it.
func (h Host) Remove(name string) error {
	for _, t := range h.trees {
		var cgroups []string
		err := walk(filepath.Join(t.path, name), func(cgroup string) error {
			cgroups = append(cgroups, cgroup)
			return nil
		})
		if err != nil {
			return fmt.Errorf("remove cgroup: %w", err)
		}
		for i := len(cgroups) - 1; i >= 0; i-- { // children first
			if err := removeOne(cgroups[i]); err != nil {
				return fmt.Errorf("remove cgroup: %w", err)
			}
		}
	}
	return nil
}

// removeOne tries again for a moment: the kernel lets go of a cgroup a little
// after its last process.
func removeOne(dir string) error {
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}
	}
}

// walk visits the cgroup and all below it, parents first. A missing one is fine.
func walk(dir string, visit func(cgroup string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return ignoreGone(err)
		}
		if !d.IsDir() {
			return nil
		}
		return visit(path)
	})
}

func writeExisting(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// ignoreGone accepts that a cgroup vanished: missing before the open, or no
// device after it.
func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}
