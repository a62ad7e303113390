package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
)

// Command is a program to run in the background.
type Command struct {
	Path string
	Args []string
	Env  []string // complete; nothing is inherited
	Dir  string
	Log  string // both output streams are appended here
	// Inputs stands for the content of the files that the program reads at its
	// start: with other content it is another command.
	Inputs string
}

// Record is what is kept on disk about a running program.
type Record struct {
	Identity
	Args   []string `json:"args"`
	Inputs string   `json:"inputs"`
}

// Current says whether the recorded process runs the given command, in the
// program's present build.
func (r Record) Current(c Command) bool {
	return r.Running() && r.Inputs == c.Inputs && slices.Equal(r.Args, c.Args) && !r.Outdated()
}

// Records keeps one record a program in a directory.
type Records struct{ Dir string }

func (r Records) file(name string) string { return filepath.Join(r.Dir, name+".json") }

// Load reads a record; ok is false when there is none. A damaged record is
// treated as none: it can't identify a process.
func (r Records) Load(name string) (record Record, ok bool, err error) {
	raw, err := os.ReadFile(r.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("read the record of %s: %w", name, err)
	}
	if err := json.Unmarshal(raw, &record); err != nil || record.PID <= 0 {
		return Record{}, false, nil //nolint:nilerr // damaged counts as none
	}
	return record, true, nil
}

// Save writes a record in one step, so that no reader sees half of it.
func (r Records) Save(name string, record Record) error {
	raw, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the record of %s: %w", name, err)
	}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	temporary := r.file(name) + ".new"
	if err := os.WriteFile(temporary, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	if err := os.Rename(temporary, r.file(name)); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	return nil
}

// Remove deletes a record; a missing one is fine.
func (r Records) Remove(name string) error {
	if err := os.Remove(r.file(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the record of %s: %w", name, err)
	}
	return nil
}

// Start runs the command in a session of its own, so that it outlives the
// launcher and its terminal, and records it.
func (r Records) Start(name string, c Command) (Record, error) {
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return Record{}, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close() //nolint:errcheck // the child has its own handle
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return Record{}, fmt.Errorf("start %s: %w", name, err)
	}
	identity, err := Identify(cmd.Process.Pid)
	// Reap the child if it ends while the launcher still runs.
	go cmd.Wait() //nolint:errcheck // whoever waits for it to be healthy sees it end
	if err != nil {
		return Record{}, fmt.Errorf("%s ended at once: %w", name, err)
	}
	record := Record{Identity: identity, Args: c.Args, Inputs: c.Inputs}
	return record, r.Save(name, record)
}
