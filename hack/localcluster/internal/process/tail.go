package process

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Tail returns the last lines of a file.
func Tail(path string, lines int) (string, error) {
	const window = 64 << 10
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the log: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", fmt.Errorf("read the log: %w", err)
	}
	if _, err := f.Seek(max(0, size-window), io.SeekStart); err != nil {
		return "", fmt.Errorf("read the log: %w", err)
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		return "", fmt.Errorf("read the log: %w", err)
	}
	return lastLines(string(raw), lines), nil
}

// lastLines returns at most n lines from the end of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
