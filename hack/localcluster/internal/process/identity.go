// Package process starts the cluster's programs in the background and finds
// them again later without ever mistaking another process for one of them.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Identity names one process for good. The kernel gives process numbers out
// again, so a number alone is never signalled: the start time and the boot tell
// two owners of one number apart.
type Identity struct {
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"` // clock ticks after boot
	BootID string `json:"bootID"`
	Exe    string `json:"exe"`
}

// Identify reads the identity of a live process. A process that has ended but
// was not reaped yet counts as gone: os.ErrNotExist.
func Identify(pid int) (Identity, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("read the boot id: %w", err)
	}
	raw, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return Identity{}, fmt.Errorf("process %d: %w", pid, gone(err))
	}
	stat, err := parseStat(raw)
	if err != nil {
		return Identity{}, fmt.Errorf("process %d: %w", pid, err)
	}
	if stat.state == 'Z' || stat.state == 'X' {
		return Identity{}, fmt.Errorf("process %d has ended: %w", pid, os.ErrNotExist)
	}
	exe, err := os.Readlink(procFile(pid, "exe"))
	if err != nil {
		return Identity{}, fmt.Errorf("process %d: %w", pid, gone(err))
	}
	return Identity{
		PID:    pid,
		Start:  stat.start,
		BootID: strings.TrimSpace(string(boot)),
		// The kernel marks a program whose file was replaced since.
		Exe: strings.TrimSuffix(exe, " (deleted)"),
	}, nil
}

// Running says whether the very process that was identified still runs.
func (i Identity) Running() bool {
	current, err := Identify(i.PID)
	return err == nil && current == i
}

// Outdated says whether the program's file was replaced after the start.
func (i Identity) Outdated() bool {
	running, err := os.Stat(procFile(i.PID, "exe"))
	if err != nil {
		return true
	}
	installed, err := os.Stat(i.Exe)
	return err != nil || !os.SameFile(running, installed)
}

// Stopped says whether the process is held by SIGSTOP.
func (i Identity) Stopped() bool {
	raw, err := os.ReadFile(procFile(i.PID, "stat"))
	if err != nil {
		return false
	}
	stat, err := parseStat(raw)
	return err == nil && stat.state == 'T'
}

// Signal sends a signal to exactly this process, or returns os.ErrProcessDone.
func (i Identity) Signal(signal syscall.Signal) error {
	// FindProcess takes a handle first, so the number can't change hands
	// between the check and the signal.
	handle, err := os.FindProcess(i.PID)
	if err != nil {
		return fmt.Errorf("process %d: %w", i.PID, err)
	}
	defer handle.Release() //nolint:errcheck // only frees the handle
	if !i.Running() {
		return os.ErrProcessDone
	}
	if err := handle.Signal(signal); err != nil {
		return fmt.Errorf("signal process %d: %w", i.PID, err)
	}
	return nil
}

// Stop asks the process to end, and kills it after the grace period.
func (i Identity) Stop(grace time.Duration) error {
	if i.Stopped() {
		_ = i.Signal(syscall.SIGCONT) // a held process can't act on SIGTERM
	}
	if grace > 0 {
		if err := i.Signal(syscall.SIGTERM); err != nil {
			return ignoreDone(err)
		}
		if i.ended(grace) {
			return nil
		}
	}
	if err := i.Signal(syscall.SIGKILL); err != nil {
		return ignoreDone(err)
	}
	if !i.ended(10 * time.Second) {
		return fmt.Errorf("process %d (%s) survived SIGKILL for 10s", i.PID, filepath.Base(i.Exe))
	}
	return nil
}

// ended waits until the process is gone, or the limit has passed.
func (i Identity) ended(limit time.Duration) bool {
	for deadline := time.Now().Add(limit); i.Running(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// WithEnvironment finds every process that was started with the given
// environment entry (NAME=value), such as children the launcher never saw.
func WithEnvironment(entry string) ([]Identity, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []Identity
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environment, err := os.ReadFile(procFile(pid, "environ"))
		if err != nil || !hasEntry(environment, entry) {
			continue
		}
		if identity, err := Identify(pid); err == nil {
			found = append(found, identity)
		}
	}
	return found, nil
}

func hasEntry(environment []byte, entry string) bool {
	for _, e := range bytes.Split(environment, []byte{0}) {
		if string(e) == entry {
			return true
		}
	}
	return false
}

type stat struct {
	state byte
	start uint64
}

// parseStat reads /proc/<pid>/stat. The second field is the program's name in
// parentheses and may itself hold blanks and parentheses.
func parseStat(raw []byte) (stat, error) {
	end := bytes.LastIndexByte(raw, ')')
	if end < 0 {
		return stat{}, errors.New("process status without a name")
	}
	const state, startTime = 0, 19 // counted from the field after the name
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) <= startTime {
		return stat{}, fmt.Errorf("process status with only %d fields", len(fields))
	}
	start, err := strconv.ParseUint(fields[startTime], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("start time: %w", err)
	}
	return stat{state: fields[state][0], start: start}, nil
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// gone maps "no such process", which reading /proc returns when the process
// ends meanwhile, to os.ErrNotExist.
func gone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrNotExist
	}
	return err
}

func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
