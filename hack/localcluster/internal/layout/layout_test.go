package layout

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func free() Usage {
	return Usage{
		ID:     func(string) bool { return false },
		Port:   func(int) bool { return false },
		Subnet: func(netip.Prefix) bool { return false },
	}
}

func TestAllocateIsStableAndDiffersByPath(t *testing.T) {
	one, err := Allocate("/a/.cluster", free())
	if err != nil {
		t.Fatal(err)
	}
	again, err := Allocate("/a/.cluster", free())
	if err != nil {
		t.Fatal(err)
	}
	if one != again {
		t.Errorf("the same path got %+v, then %+v", one, again)
	}
	other, err := Allocate("/b/.cluster", free())
	if err != nil {
		t.Fatal(err)
	}
	if one.ID == other.ID || one.PodSubnet.Overlaps(other.PodSubnet) || one.Ports.APIServer == other.Ports.APIServer {
		t.Errorf("two paths share something: %+v and %+v", one, other)
	}
}

func TestAllocateMovesPastWhatIsTaken(t *testing.T) {
	first, err := Allocate("/a/.cluster", free())
	if err != nil {
		t.Fatal(err)
	}
	usage := Usage{
		ID: func(id string) bool { return id == first.ID },
		Port: func(port int) bool {
			return slices.ContainsFunc(first.Ports.all(), func(p *int) bool { return *p == port })
		},
		Subnet: func(s netip.Prefix) bool { return s.Overlaps(first.PodSubnet) },
	}
	second, err := Allocate("/a/.cluster", usage)
	if err != nil {
		t.Fatal(err)
	}
	if second.ID == first.ID || second.PodSubnet.Overlaps(first.PodSubnet) {
		t.Errorf("took what is taken: %+v after %+v", second, first)
	}
	for _, port := range second.Ports.all() {
		if usage.Port(*port) {
			t.Errorf("took the taken port %d", *port)
		}
	}
}

func TestAllocateNamesWhatIsExhausted(t *testing.T) {
	for want, exhaust := range map[string]func(*Usage){
		"identity": func(u *Usage) { u.ID = func(string) bool { return true } },
		"ports":    func(u *Usage) { u.Port = func(p int) bool { return p != firstPort } },
		"subnet":   func(u *Usage) { u.Subnet = func(netip.Prefix) bool { return true } },
	} {
		usage := free()
		exhaust(&usage)
		if _, err := Allocate("/a", usage); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one about the %s", err, want)
		}
	}
}

func TestAllocationStaysInItsRanges(t *testing.T) {
	inside := netip.MustParsePrefix("10.128.0.0/10")
	for _, seed := range []uint32{0, 1, 127, 128, subnetCount - 1, subnetCount, 1<<32 - 1} {
		subnet, err := allocateSubnet(seed, free().Subnet)
		if err != nil {
			t.Fatal(err)
		}
		if !inside.Contains(subnet.Addr()) || subnet != subnet.Masked() || subnet.Bits() != subnetBits {
			t.Errorf("seed %d gave the subnet %s", seed, subnet)
		}
		ports, err := allocatePorts(seed, free().Port)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, p := range ports.all() {
			if *p < firstPort || *p > lastPort || seen[*p] {
				t.Errorf("seed %d gave the port %d", seed, *p)
			}
			seen[*p] = true
		}
	}
}

func TestNamesFitTheKernel(t *testing.T) {
	c, err := Allocate("/a/.cluster", free())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Bridge()) > 15 {
		t.Errorf("interface name %s is longer than 15 characters", c.Bridge())
	}
	if socket := c.ContainerdSocket() + ".ttrpc"; len(socket) > 107 {
		t.Errorf("socket path %s is longer than 107 bytes", socket)
	}
	if _, err := New("/" + strings.Repeat("d", maxState)); err == nil {
		t.Error("a state directory too long for sockets is accepted")
	}
}

func TestConfigSurvivesOnDisk(t *testing.T) {
	l := Layout{State: t.TempDir()}
	if _, err := Load(l); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a config got error %v", err)
	}
	want, err := Allocate(l.State, free())
	if err != nil {
		t.Fatal(err)
	}
	if err := want.Save(l); err != nil {
		t.Fatal(err)
	}
	got, err := Load(l)
	if err != nil || got != want {
		t.Errorf("got %+v, error %v, want %+v", got, err, want)
	}
}

func TestCopiedStateIsRefused(t *testing.T) {
	original, copied := Layout{State: t.TempDir()}, Layout{State: t.TempDir()}
	config, err := Allocate(original.State, free())
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Save(copied); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(copied); err == nil || !strings.Contains(err.Error(), original.State) {
		t.Errorf("got error %v, want one that names %s", err, original.State)
	}
}

func TestParseRoutes(t *testing.T) {
	table := "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
		"eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n" +
		"eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n" +
		"tc-1\t0032B40A\t00000000\t0001\t0\t0\t0\t00FEFFFF\t0\t0\t0\n"
	got, err := parseRoutes(strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	want := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("10.180.50.0/23")}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := parseRoutes(strings.NewReader("heading\neth0 zz 0 0 0 0 0 00FFFFFF\n")); err == nil {
		t.Error("a damaged table is accepted")
	}
}

func TestFindSourceFromBelow(t *testing.T) {
	root := t.TempDir()
	source := filepath.Join(root, "hack", "localcluster")
	deep := filepath.Join(source, "internal", "layout")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, source, deep} {
		t.Chdir(dir)
		l, err := New("")
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(root, ".cluster"); l.State != want {
			t.Errorf("from %s the state directory is %s, want %s", dir, l.State, want)
		}
	}
}
