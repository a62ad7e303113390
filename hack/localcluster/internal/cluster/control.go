package cluster

import (
	"context"
	"fmt"
	"syscall"
)

// Status is how one component is.
type Status struct {
	Name  string
	PID   int // 0 when it does not run
	State string
}

// Status looks at every component; healthy is true when all serve.
func (c *Cluster) Status(ctx context.Context) (statuses []Status, healthy bool, err error) {
	healthy = true
	for _, name := range ComponentNames() {
		component, err := c.component(name)
		if err != nil {
			return nil, false, err
		}
		record, ok, err := c.records.Load(name)
		if err != nil {
			return nil, false, err
		}
		status := Status{Name: name, State: "healthy"}
		switch {
		case !ok || !record.Running():
			status.State = "not running"
		case record.Stopped():
			status.PID, status.State = record.PID, "paused"
		default:
			status.PID = record.PID
			if err := component.Check(ctx); err != nil {
				status.State = fmt.Sprintf("unhealthy: %v", err)
			}
		}
		healthy = healthy && status.State == "healthy"
		statuses = append(statuses, status)
	}
	return statuses, healthy, nil
}

// PID is the process of a running component.
func (c *Cluster) PID(name string) (int, error) {
	if _, err := c.component(name); err != nil {
		return 0, err
	}
	record, ok, err := c.records.Load(name)
	if err != nil {
		return 0, err
	}
	if !ok || !record.Running() {
		return 0, fmt.Errorf("%s does not run", name)
	}
	return record.PID, nil
}

// Signal sends a signal to a running component.
func (c *Cluster) Signal(name string, signal syscall.Signal) error {
	if _, err := c.PID(name); err != nil {
		return err
	}
	record, _, err := c.records.Load(name)
	if err != nil {
		return err
	}
	return record.Signal(signal)
}

// StopComponent kills one component, as a crash would, and waits for its end.
func (l Launcher) StopComponent(ctx context.Context, name string) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := l.Open()
	if err != nil {
		return err
	}
	if _, err := c.component(name); err != nil {
		return err
	}
	return c.stop(name, 0)
}

// StartComponent starts one component unless it runs, and waits until it serves.
func (l Launcher) StartComponent(ctx context.Context, name string) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := l.Open()
	if err != nil {
		return err
	}
	_, err = c.ensure(ctx, name)
	return err
}
