package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// step says what is done now, and after it how long it took.
func step(format string, args ...any) func(action func() error) error {
	return func(action func() error) error {
		return longStep(fmt.Sprintf(format, args...), func(func(string)) error { return action() })
	}
}

// longStep is a step that reports how far it is: in place on a terminal, else
// with a line every half minute.
func longStep(title string, action func(report func(string)) error) error {
	const quiet = 30 * time.Second
	terminal := term.IsTerminal(int(os.Stdout.Fd()))
	began := time.Now()
	reported := began
	fmt.Printf("%s… ", title)
	err := action(func(progress string) {
		switch now := time.Now(); {
		case terminal:
			fmt.Printf("\r\x1b[K%s… %s, %s ", title, progress, now.Sub(began).Round(time.Second))
		case now.Sub(reported) > quiet:
			reported = now
			fmt.Printf("%s… ", progress)
		}
	})
	if terminal {
		fmt.Printf("\r\x1b[K%s… ", title)
	}
	if err != nil {
		fmt.Println("failed")
		return err
	}
	fmt.Printf("done (%.1fs)\n", time.Since(began).Seconds())
	return nil
}
