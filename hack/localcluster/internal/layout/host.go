package layout

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const runDirs = "/run"

// HostUsage looks at the host and at the other clusters on it, running or not.
func HostUsage(self Layout) (Usage, error) {
	subnets, err := hostSubnets()
	if err != nil {
		return Usage{}, err
	}
	others := otherClusters(self)
	return Usage{
		ID: func(id string) bool {
			c := Config{ID: id}
			_, err := net.InterfaceByName(c.Bridge())
			return exists(c.RunDir()) || err == nil
		},
		Port: func(port int) bool {
			reserved := slices.ContainsFunc(others, func(c Config) bool {
				return slices.ContainsFunc(c.Ports.all(), func(p *int) bool { return *p == port })
			})
			return reserved || !canListen(port)
		},
		Subnet: func(subnet netip.Prefix) bool {
			return slices.ContainsFunc(subnets, subnet.Overlaps) ||
				slices.ContainsFunc(others, func(c Config) bool { return c.PodSubnet.Overlaps(subnet) })
		},
	}, nil
}

// ownerFile, in a cluster's run directory, names its state directory.
const ownerFile = "owner"

// Claim creates the run directory and marks it as this cluster's.
func (c Config) Claim() error {
	if err := os.MkdirAll(c.RunDir(), 0o700); err != nil {
		return fmt.Errorf("claim the run directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(c.RunDir(), ownerFile), []byte(c.StateDir), 0o600); err != nil {
		return fmt.Errorf("claim the run directory: %w", err)
	}
	return nil
}

// otherClusters reads the configs of all clusters that have a run directory.
// One that can't be read reserves nothing.
func otherClusters(self Layout) []Config {
	owners, err := filepath.Glob(filepath.Join(runDirs, "tc-*", ownerFile))
	if err != nil {
		return nil
	}
	var others []Config
	for _, owner := range owners {
		state, err := os.ReadFile(owner)
		if err != nil || string(state) == self.State {
			continue
		}
		if c, err := Load(Layout{State: string(state)}); err == nil {
			others = append(others, c)
		}
	}
	return others
}

func hostSubnets() ([]netip.Prefix, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list the host's addresses: %w", err)
	}
	var subnets []netip.Prefix
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			subnets = append(subnets, p.Masked())
		}
	}
	routes, err := os.Open("/proc/net/route")
	if err != nil {
		return nil, fmt.Errorf("list the host's routes: %w", err)
	}
	defer routes.Close() //nolint:errcheck // only read
	parsed, err := parseRoutes(routes)
	return append(subnets, parsed...), err
}

// parseRoutes reads the destinations of /proc/net/route, without default routes.
func parseRoutes(r io.Reader) ([]netip.Prefix, error) {
	var subnets []netip.Prefix
	lines := bufio.NewScanner(r)
	lines.Scan() // the heading
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 {
			continue
		}
		destination, err1 := routeWord(fields[1])
		mask, err2 := routeWord(fields[7])
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("route %q: %w", lines.Text(), err)
		}
		if ones := bits.OnesCount32(binary.BigEndian.Uint32(mask[:])); ones > 0 {
			subnets = append(subnets, netip.PrefixFrom(netip.AddrFrom4(destination), ones))
		}
	}
	return subnets, lines.Err()
}

// routeWord decodes an address, which the kernel prints as a number in the
// host's (little-endian) byte order.
func routeWord(text string) ([4]byte, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 4 {
		return [4]byte{}, fmt.Errorf("%q is no address", text)
	}
	return [4]byte{raw[3], raw[2], raw[1], raw[0]}, nil
}

func canListen(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Abandoned finds what is left of clusters of this state directory whose config
// is gone, for example because someone deleted the directory.
func Abandoned(l Layout) []Config {
	owners, err := filepath.Glob(filepath.Join(runDirs, "tc-*", ownerFile))
	if err != nil {
		return nil
	}
	var found []Config
	for _, owner := range owners {
		if state, err := os.ReadFile(owner); err == nil && string(state) == l.State {
			id := strings.TrimPrefix(filepath.Base(filepath.Dir(owner)), "tc-")
			found = append(found, Config{StateDir: l.State, ID: id})
		}
	}
	return found
}

// OthersExist says whether the host has other clusters of this kind, running or not.
func OthersExist(self Config) bool {
	owners, err := filepath.Glob(filepath.Join(runDirs, "tc-*", ownerFile))
	return err == nil && slices.ContainsFunc(owners, func(owner string) bool {
		return filepath.Dir(owner) != self.RunDir()
	})
}
