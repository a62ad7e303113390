package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	rest := " S 1 77 77 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 4711 1234 5"
	tests := map[string]struct {
		raw       string
		wantState byte
		wantStart uint64
		wantErr   bool
	}{
		"plain name":                   {raw: "77 (etcd)" + rest, wantState: 'S', wantStart: 4711},
		"name with blanks and bracket": {raw: "77 (a) b (c))" + rest, wantState: 'S', wantStart: 4711},
		"no name":                      {raw: "77 etcd" + rest, wantErr: true},
		"cut off":                      {raw: "77 (etcd) S 1 77", wantErr: true},
		"empty":                        {raw: "", wantErr: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat([]byte(tt.raw))
			if (err != nil) != tt.wantErr {
				t.Fatalf("error %v, want one: %v", err, tt.wantErr)
			}
			if got.state != tt.wantState || got.start != tt.wantStart {
				t.Errorf("got state %q start %d, want %q and %d", got.state, got.start, tt.wantState, tt.wantStart)
			}
		})
	}
}

// startSleep records a real process that ends with the test.
func startSleep(t *testing.T, seconds string, env ...string) (Records, Command, Record) {
	t.Helper()
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("no sleep program")
	}
	dir := t.TempDir()
	records := Records{Dir: filepath.Join(dir, "processes")}
	command := Command{Path: path, Args: []string{seconds}, Env: env, Dir: dir, Log: filepath.Join(dir, "log")}
	record, err := records.Start("sleeper", command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := record.Stop(0); err != nil {
			t.Error(err)
		}
	})
	return records, command, record
}

func TestRecordFindsItsProcessAgain(t *testing.T) {
	records, command, started := startSleep(t, "60")
	loaded, ok, err := records.Load("sleeper")
	if err != nil || !ok {
		t.Fatalf("load: found %v, error %v", ok, err)
	}
	if loaded.Identity != started.Identity {
		t.Errorf("loaded %+v, want %+v", loaded.Identity, started.Identity)
	}
	if !loaded.Current(command) {
		t.Error("the running command counts as another one")
	}
	changed := command
	changed.Args = []string{"61"}
	if loaded.Current(changed) {
		t.Error("other arguments count as the running command")
	}
	changed = command
	changed.Inputs = "other content"
	if loaded.Current(changed) {
		t.Error("other files count as the running command")
	}
}

func TestIdentityOfAnotherProcessIsNeverSignalled(t *testing.T) {
	_, _, record := startSleep(t, "60")
	for name, change := range map[string]func(*Identity){
		"number given to a later process": func(i *Identity) { i.Start-- },
		"earlier boot":                    func(i *Identity) { i.BootID = "another" },
		"other program":                   func(i *Identity) { i.Exe = "/bin/other" },
	} {
		t.Run(name, func(t *testing.T) {
			stale := record.Identity
			change(&stale)
			if stale.Running() {
				t.Error("counts as running")
			}
			if err := stale.Signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("signal returned %v, want ErrProcessDone", err)
			}
			if err := stale.Stop(time.Second); err != nil {
				t.Errorf("stop returned %v, want nothing to do", err)
			}
			if !record.Running() {
				t.Fatal("the other process was hit")
			}
		})
	}
}

func TestStopEndsAHeldProcess(t *testing.T) {
	_, _, record := startSleep(t, "60")
	if err := record.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); !record.Stopped(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never held")
		}
	}
	if err := record.Stop(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if record.Running() {
		t.Error("still runs")
	}
	if err := record.Stop(time.Second); err != nil {
		t.Errorf("stopping again returned %v", err)
	}
}

func TestWithEnvironment(t *testing.T) {
	entry := "LOCALCLUSTER_TEST=" + t.TempDir()
	_, _, record := startSleep(t, "60", "OTHER=1", entry)
	found, err := WithEnvironment(entry)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0] != record.Identity {
		t.Errorf("found %+v, want only %+v", found, record.Identity)
	}
	if found, err := WithEnvironment(entry + "x"); err != nil || len(found) != 0 {
		t.Errorf("found %+v, error %v for an entry nobody has", found, err)
	}
}

func TestDamagedOrMissingRecordIsNone(t *testing.T) {
	records := Records{Dir: t.TempDir()}
	if _, ok, err := records.Load("etcd"); ok || err != nil {
		t.Errorf("missing: found %v, error %v", ok, err)
	}
	for _, content := range []string{"", "{", "{}", `{"pid":-1}`} {
		if err := os.WriteFile(filepath.Join(records.Dir, "etcd.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := records.Load("etcd"); ok || err != nil {
			t.Errorf("%q: found %v, error %v", content, ok, err)
		}
	}
	if err := records.Remove("none"); err != nil {
		t.Errorf("removing no record returned %v", err)
	}
}

func TestOutdatedProgram(t *testing.T) {
	source, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("no sleep program")
	}
	content, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	record, err := Records{Dir: dir}.Start("program", Command{Path: path, Args: []string{"60"}, Dir: dir, Log: filepath.Join(dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = record.Stop(0) })
	if record.Outdated() {
		t.Error("outdated at once")
	}
	if err := os.WriteFile(path+".new", content, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if !record.Outdated() {
		t.Error("a replaced program is not noticed")
	}
	if !record.Running() {
		t.Error("a replaced program counts as another process")
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for name, tt := range map[string]struct{ content, want string }{
		"short":    {content: "a\nb\n", want: "a\nb"},
		"longer":   {content: "a\nb\nc\nd\n", want: "b\nc\nd"},
		"no end":   {content: "a\nb\nc\nd", want: "b\nc\nd"},
		"empty":    {content: "", want: ""},
		"very big": {content: strings.Repeat("0\n", 100000) + "1\n2\n", want: "0\n1\n2"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Tail(path, 3)
			if err != nil || got != tt.want {
				t.Errorf("got %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}
