//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// process is a process of a pod, as the node sees it.
type process struct {
	pid int
	// state is the kernel's letter: R, S, Z and so on.
	state string
	// uid is the effective user.
	uid     string
	command string
}

// processesOf lists the processes of a pod, whatever they made of themselves:
// an unprivileged process can't leave its pod's cgroup, whose name holds the
// pod's UID. Without a pod there is none.
func processesOf(pod types.UID) []process {
	directories, _ := filepath.Glob("/proc/[0-9]*")
	var found []process
	for _, directory := range directories {
		cgroups, err := os.ReadFile(filepath.Join(directory, "cgroup"))
		if err != nil || !inPod(string(cgroups), pod) {
			continue // ended in between, or somebody else's
		}
		if p, ok := readProcess(directory); ok {
			found = append(found, p)
		}
	}
	return found
}

// inPod knows the names that the two cgroup drivers give.
func inPod(cgroups string, pod types.UID) bool {
	return strings.Contains(cgroups, "pod"+string(pod)) ||
		strings.Contains(cgroups, "pod"+strings.ReplaceAll(string(pod), "-", "_"))
}

func readProcess(directory string) (process, bool) {
	status, err := os.ReadFile(filepath.Join(directory, "status"))
	if err != nil {
		return process{}, false
	}
	line, _ := os.ReadFile(filepath.Join(directory, "cmdline"))
	pid, err := strconv.Atoi(filepath.Base(directory))
	p := process{pid: pid, command: strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))}
	for field := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(field, ":")
		values := strings.Fields(value)
		switch {
		case name == "State" && len(values) > 0:
			p.state = values[0]
		case name == "Uid" && len(values) > 1:
			p.uid = values[1]
		}
	}
	return p, err == nil
}

// those are the processes that a filter picks.
func those(all []process, pick func(process) bool) []process {
	var picked []process
	for _, p := range all {
		if pick(p) {
			picked = append(picked, p)
		}
	}
	return picked
}
