package layout

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
)

// Usage answers what the host's other users have taken.
type Usage struct {
	ID     func(id string) bool
	Port   func(port int) bool
	Subnet func(subnet netip.Prefix) bool
}

// Ports are taken from a range below the ones the kernel hands out by itself
// (from 32768) and Kubernetes' node ports (from 30000).
const firstPort, lastPort = 20000, 29999

// Pod subnets are /23, room for 250 pods and for addresses still in use by
// pods that end, out of 10.128.0.0 - 10.191.255.255.
const subnetBits, subnetCount = 23, 1 << (23 - 10)

// Allocate chooses an identity, ports and a pod subnet for the state directory:
// derived from its path, so that a cluster gets the same ones again, and moved
// on past what is taken.
func Allocate(state string, taken Usage) (Config, error) {
	id, seed, err := allocateID(state, taken.ID)
	if err != nil {
		return Config{}, err
	}
	subnet, err := allocateSubnet(seed, taken.Subnet)
	if err != nil {
		return Config{}, err
	}
	ports, err := allocatePorts(seed, taken.Port)
	if err != nil {
		return Config{}, err
	}
	return Config{StateDir: state, ID: id, PodSubnet: subnet, Ports: ports}, nil
}

func allocateID(state string, taken func(string) bool) (id string, seed uint32, err error) {
	for attempt := range 100 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s#%d", state, attempt))
		if id = hex.EncodeToString(sum[:4]); !taken(id) {
			return id, binary.BigEndian.Uint32(sum[4:]), nil
		}
	}
	return "", 0, errors.New("no free cluster identity in 100 attempts")
}

func allocateSubnet(seed uint32, taken func(netip.Prefix) bool) (netip.Prefix, error) {
	for attempt := range uint32(subnetCount) {
		n := (seed + attempt) % subnetCount
		subnet := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(128 + n>>7), byte(n << 1), 0}), subnetBits)
		if !taken(subnet) {
			return subnet, nil
		}
	}
	return netip.Prefix{}, errors.New("no free pod subnet in 10.128.0.0/10")
}

func allocatePorts(seed uint32, taken func(int) bool) (Ports, error) {
	const count = lastPort - firstPort + 1
	var ports Ports
	wanted := ports.all()
	// Neighbouring seeds start far apart, so that clusters rarely meet.
	start := int(seed % (count / 10) * 10)
	for offset := 0; offset < count && len(wanted) > 0; offset++ {
		if port := firstPort + (start+offset)%count; !taken(port) {
			*wanted[0] = port
			wanted = wanted[1:]
		}
	}
	if len(wanted) > 0 {
		return Ports{}, fmt.Errorf("no free loopback ports in %d-%d", firstPort, lastPort)
	}
	return ports, nil
}
