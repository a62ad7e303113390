package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

// patience is how long a batch may wait for an operator that takes it up.
const patience = 20 * time.Second

// refresh is how often a display is told the time.
const refresh = 100 * time.Millisecond

// display shows the calls of a batch while they run.
type display interface {
	// Show is called with all calls when one has changed or time has passed.
	Show(calls []progress, now time.Time)
	// Close leaves the last state on the screen.
	Close()
}

func newDisplay(calls []progress) display {
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	if plain || !term.IsTerminal(int(os.Stdout.Fd())) {
		return newLines(os.Stdout, time.Now())
	}
	return newBars(os.Stdout, calls)
}

// follow shows the batch until it has ended.
func (d *demo) follow(ctx context.Context, batch *v1alpha1.ToolBatch) error {
	calls, err := d.client.Watch(ctx, &v1alpha1.ToolCallList{}, callsOf(batch)...)
	if err != nil {
		return fmt.Errorf("watch the calls: %w", err)
	}
	defer calls.Stop()
	batches, err := d.client.Watch(ctx, &v1alpha1.ToolBatchList{}, client.InNamespace(batch.Namespace),
		client.MatchingFields{"metadata.name": batch.Name})
	if err != nil {
		return fmt.Errorf("watch the batch: %w", err)
	}
	defer batches.Stop()

	state := newProgress(batch)
	screen := newDisplay(state)
	defer screen.Close()
	f := follower{calls: calls.ResultChan(), batches: batches.ResultChan(), state: state, screen: screen}
	return f.run(ctx)
}

// follower turns the events of two watches into a state on a screen.
type follower struct {
	calls, batches <-chan watch.Event
	state          []progress
	screen         display
	taken, ended   bool
}

func (f *follower) run(ctx context.Context) error {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	ignored := time.After(patience)
	for !f.ended {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ignored:
			if !f.taken {
				return fmt.Errorf("nobody has taken up the batch for %s; is the operator well? See `kubectl logs -n %s deployment/%s`",
					patience, cluster.OperatorNamespace, cluster.OperatorName)
			}
		case event := <-f.calls:
			if err := f.onCall(event); err != nil {
				return err
			}
		case event := <-f.batches:
			if err := f.onBatch(event); err != nil {
				return err
			}
		case <-tick.C:
		}
		f.screen.Show(f.state, time.Now())
	}
	return nil
}

func (f *follower) onCall(event watch.Event) error {
	call, ok := event.Object.(*v1alpha1.ToolCall)
	if !ok {
		return watchError(event)
	}
	index, err := strconv.Atoi(call.Labels[v1alpha1.LabelIndex])
	if err != nil || index < 0 || index >= len(f.state) {
		return fmt.Errorf("the call %s has no place in the batch: label %s is %q", call.Name, v1alpha1.LabelIndex, call.Labels[v1alpha1.LabelIndex])
	}
	f.taken = true
	f.state[index].update(call, time.Now())
	return nil
}

func (f *follower) onBatch(event watch.Event) error {
	batch, ok := event.Object.(*v1alpha1.ToolBatch)
	if !ok {
		return watchError(event)
	}
	if event.Type == watch.Deleted {
		return errors.New("the batch was deleted while it ran")
	}
	f.ended = meta.IsStatusConditionTrue(batch.Status.Conditions, v1alpha1.ConditionFinished)
	return nil
}

func watchError(event watch.Event) error {
	if event.Object == nil {
		return errors.New("the API server ended the watch: run the demo again")
	}
	return fmt.Errorf("the API server ended the watch: %v", event.Object)
}
