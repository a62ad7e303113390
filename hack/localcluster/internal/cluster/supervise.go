package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/process"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/progress"
)

const (
	// startLimit is how long a component may take until it serves; on a slow,
	// busy machine the API server needs most of it.
	startLimit = 2 * time.Minute
	// answerLimit is how long a running component may take to answer before it
	// counts as broken.
	answerLimit = 10 * time.Second
	checkEvery  = 50 * time.Millisecond
	logLines    = 20
	maxLogSize  = 64 << 20
)

// ensure makes the component run and serve. A healthy one is left alone; a dead,
// stuck or outdated one is started anew. It returns whether it was started.
func (c *Cluster) ensure(ctx context.Context, name string) (started bool, err error) {
	component, err := c.prepare(name)
	if err != nil {
		return false, err
	}
	record, known, err := c.records.Load(name)
	if err != nil {
		return false, err
	}
	if known && record.Current(component.Command) && c.answers(ctx, component, record) {
		return false, nil
	}
	if known {
		if record.Running() {
			c.console.Printf("Restarting %s: it does not answer, or is not up to date", name)
		}
		if err := record.Stop(component.Grace); err != nil {
			return false, fmt.Errorf("stop %s: %w", name, err)
		}
	}
	return true, c.start(ctx, component)
}

// prepare completes a component's command with what its files hold, so that a
// changed file counts as a changed command.
func (c *Cluster) prepare(name string) (Component, error) {
	component, err := c.component(name)
	if err != nil {
		return Component{}, err
	}
	sum := sha256.New()
	for _, file := range component.Files {
		content, err := os.ReadFile(file)
		if err != nil {
			return Component{}, fmt.Errorf("configuration of %s: %w", name, err)
		}
		sum.Write(content)
	}
	component.Command.Inputs = hex.EncodeToString(sum.Sum(nil))
	return component, nil
}

// answers gives a running component a moment, and wakes one that is held.
func (c *Cluster) answers(ctx context.Context, component Component, record process.Record) bool {
	if record.Stopped() {
		_ = record.Signal(syscall.SIGCONT) // if it is gone, the check says so
	}
	return c.await(ctx, component, record, answerLimit) == nil
}

func (c *Cluster) start(ctx context.Context, component Component) error {
	began := time.Now()
	if err := limitLog(component.Command.Log); err != nil {
		return fmt.Errorf("start %s: %w", component.Name, err)
	}
	record, err := c.records.Start(component.Name, component.Command)
	if err != nil {
		return c.explain(component, err)
	}
	if err := c.await(ctx, component, record, startLimit); err != nil {
		return c.explain(component, err)
	}
	c.console.Printf("%s is up (%s)", component.Name, progress.Elapsed(time.Since(began)))
	return nil
}

// await waits until the component serves, and gives up when it ends.
func (c *Cluster) await(ctx context.Context, component Component, record process.Record, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; {
		err := component.Check(ctx)
		switch {
		case !record.Running(): // whatever answered was not it
			return fmt.Errorf("%s ended", component.Name)
		case err == nil:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%s does not serve after %s: %w", component.Name, limit, err)
		}
		if err := sleep(ctx, checkEvery); err != nil {
			return err
		}
	}
}

// explain adds the end of the component's log to its failure.
func (c *Cluster) explain(component Component, err error) error {
	if errors.Is(err, context.Canceled) {
		return err // the person at the keyboard knows why
	}
	tail, tailErr := process.Tail(component.Command.Log, logLines)
	if tailErr != nil {
		tail = tailErr.Error()
	}
	return fmt.Errorf("%w\nThe last lines of %s:\n%s", err, component.Command.Log, tail)
}

// limitLog sets a log aside that has grown large; the one before it is dropped.
func limitLog(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() < maxLogSize {
		return nil //nolint:nilerr // no log yet
	}
	return os.Rename(path, path+".1")
}

// stopStrays ends components of this cluster that no record names: started by a
// launcher that was killed before it could write the record, or whose state
// directory was deleted.
func (c *Cluster) stopStrays(programs ...string) error {
	marked, err := process.WithEnvironment(c.Config.Marker())
	if err != nil {
		return err
	}
	for _, identity := range marked {
		if !slices.Contains(programs, filepath.Base(identity.Exe)) || c.recorded(identity) {
			continue
		}
		c.console.Printf("Ending a forgotten %s (process %d)", filepath.Base(identity.Exe), identity.PID)
		if err := identity.Stop(0); err != nil {
			return fmt.Errorf("end a forgotten process: %w", err)
		}
	}
	return nil
}

func (c *Cluster) recorded(identity process.Identity) bool {
	for _, name := range ComponentNames() {
		if record, ok, err := c.records.Load(name); err == nil && ok && record.Identity == identity {
			return true
		}
	}
	return false
}
