package main

import (
	"fmt"
	"io"
	"time"

	pretty "github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// bars redraws a line for each call on a terminal: name, phase, and the time it
// has run against its deadline.
type bars struct {
	writer   pretty.Writer
	trackers []*pretty.Tracker
	drawn    chan struct{}
}

const barWidth = 20

func newBars(out io.Writer, calls []progress) *bars {
	w := pretty.NewWriter()
	w.SetOutputWriter(out)
	w.SetUpdateFrequency(refresh)
	w.SetSortBy(pretty.SortByIndex)
	w.SetTrackerLength(barWidth)
	w.SetTrackerPosition(pretty.PositionRight)
	style := pretty.StyleBlocks
	style.Options.KeepTrackersTogether = true
	style.Options.Separator = ""
	style.Options.DoneString, style.Options.ErrorString = "", ""
	style.Visibility = pretty.StyleVisibility{Tracker: true}
	w.SetStyle(style)
	b := &bars{writer: w, drawn: make(chan struct{})}
	for i := range calls {
		t := &pretty.Tracker{Index: uint64(i), AutoStopDisabled: true, DeferStart: true, Total: 1}
		b.trackers = append(b.trackers, t)
	}
	b.Show(calls, time.Time{})
	w.AppendTrackers(b.trackers)
	go func() {
		defer close(b.drawn)
		w.Render()
	}()
	return b
}

// Show implements display.
func (b *bars) Show(calls []progress, now time.Time) {
	for i := range calls {
		call, tracker := &calls[i], b.trackers[i]
		tracker.UpdateMessage(line(call, now))
		switch {
		case call.finished():
			tracker.MarkAsDone()
		case !call.running.IsZero() && call.timeout > 0:
			tracker.UpdateTotal(int64(call.timeout))
			tracker.SetValue(int64(min(call.elapsed(now), call.timeout)))
		}
	}
}

// Close implements display.
func (b *bars) Close() {
	b.writer.Stop()
	<-b.drawn
}

func line(call *progress, now time.Time) string {
	phase := color(call.phase).Sprintf("%-10s", call.phase)
	return fmt.Sprintf("  %-14s %s %-14s %s", call.name, phase, clock(call, now), call.reason)
}

// clock is the time a tool has run, and its limit.
func clock(call *progress, now time.Time) string {
	switch {
	case call.running.IsZero():
		return ""
	case call.timeout == 0:
		return seconds(call.elapsed(now))
	default:
		return fmt.Sprintf("%s of %s", seconds(call.elapsed(now)), call.timeout)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%4.1fs", d.Seconds()) }

func color(phase v1alpha1.ToolCallPhase) text.Colors {
	switch phase {
	case v1alpha1.ToolCallSucceeded:
		return text.Colors{text.FgGreen}
	case v1alpha1.ToolCallFailed:
		return text.Colors{text.FgRed}
	case v1alpha1.ToolCallTimedOut:
		return text.Colors{text.FgYellow}
	case v1alpha1.ToolCallRunning:
		return text.Colors{text.FgCyan}
	default:
		return nil
	}
}
