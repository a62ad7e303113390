// Package progress tells a person what the launcher does and how far it is.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// quietInterval is how often a long step reports when it can't redraw its line.
const quietInterval = 30 * time.Second

// Console writes progress. It is safe for concurrent use.
type Console struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	width    int
	now      func() time.Time
	live     string // the unfinished line now on the terminal
}

// New returns a console. On a terminal, long steps redraw one line of at most
// width columns; elsewhere they print a line every 30 seconds.
func New(out io.Writer, terminal bool, width int, now func() time.Time) *Console {
	return &Console{out: out, terminal: terminal, width: width, now: now}
}

// Printf writes one finished line.
func (c *Console) Printf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	live := c.live
	c.clear()
	fmt.Fprintf(c.out, format+"\n", args...)
	c.draw(live)
}

// Step is one long action.
type Step struct {
	console *Console
	title   string
	started time.Time
	printed time.Time
}

// Start announces a step and begins to time it.
func (c *Console) Start(format string, args ...any) *Step {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	s := &Step{console: c, title: fmt.Sprintf(format, args...), started: now, printed: now}
	if c.terminal {
		c.clear()
		c.draw(s.title + "…")
	} else {
		fmt.Fprintf(c.out, "%s…\n", s.title)
	}
	return s
}

// Update reports how far the step is.
func (s *Step) Update(format string, args ...any) {
	c := s.console
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	line := fmt.Sprintf("%s… %s, %s", s.title, fmt.Sprintf(format, args...), Elapsed(now.Sub(s.started)))
	switch {
	case c.terminal:
		c.clear()
		c.draw(line)
	case now.Sub(s.printed) >= quietInterval:
		s.printed = now
		fmt.Fprintln(c.out, line)
	}
}

// Done ends the step with its result, such as "ready".
func (s *Step) Done(result string) {
	c := s.console
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	fmt.Fprintf(c.out, "%s… %s (%s)\n", s.title, result, Elapsed(c.now().Sub(s.started)))
}

func (c *Console) clear() {
	if c.live != "" {
		fmt.Fprint(c.out, "\r\x1b[K")
		c.live = ""
	}
}

// draw cuts the line to the terminal's width: a wrapped line can't be redrawn.
func (c *Console) draw(line string) {
	if line == "" {
		return
	}
	if runes := []rune(line); c.width > 0 && len(runes) >= c.width {
		line = string(runes[:c.width-1])
	}
	fmt.Fprint(c.out, line)
	c.live = line
}

// Elapsed writes a duration as people say it: 0.4s, 12s, 2m10s.
func Elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
