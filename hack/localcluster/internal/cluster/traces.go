package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// removeShimSockets deletes the sockets of shims that could not do it
// themselves. Their place is fixed, and named in each container's bundle.
func (c *Cluster) removeShimSockets() error {
	bundles := filepath.Join(c.Config.RunDir(), "containerd", "io.containerd.runtime.v2.task", "*", "*", "bootstrap.json")
	files, err := filepath.Glob(bundles)
	if err != nil {
		return err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("find the shim's socket: %w", err)
		}
		var bootstrap struct {
			Address string `json:"address"`
		}
		if json.Unmarshal(raw, &bootstrap) != nil {
			continue // half written, so the shim never listened
		}
		socket := strings.TrimPrefix(bootstrap.Address, "unix://")
		if filepath.Dir(socket) != shimSockets {
			continue
		}
		if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the shim's socket: %w", err)
		}
	}
	return nil
}

// unmountBelow detaches every mount in the directories, the innermost first.
func unmountBelow(dirs ...string) error {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("list mounts: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	points, err := mountPoints(f, dirs)
	if err != nil {
		return fmt.Errorf("list mounts: %w", err)
	}
	for i := len(points) - 1; i >= 0; i-- {
		err := syscall.Unmount(points[i], syscall.MNT_DETACH)
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOENT) {
			return fmt.Errorf("unmount %s: %w", points[i], err)
		}
	}
	return nil
}

// mountPoints lists the mounts in the directories in the order of their making.
func mountPoints(mountinfo io.Reader, dirs []string) ([]string, error) {
	var points []string
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		point := unescape(fields[4])
		for _, dir := range dirs {
			if strings.HasPrefix(point, dir+"/") {
				points = append(points, point)
				break
			}
		}
	}
	return points, lines.Err()
}

// unescape decodes the kernel's octal notation for blanks in paths.
func unescape(path string) string {
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if code, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

// linksInto lists the symbolic links in dir that point below target.
func linksInto(dir, target string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var links []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, target+"/") {
			links = append(links, path)
		}
	}
	return links, nil
}

func runProgram(ctx context.Context, name string, args ...string) (string, error) {
	return run(exec.CommandContext(ctx, name, args...))
}
