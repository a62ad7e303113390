// Package toolchain gets the programs a cluster consists of: Go programs built
// from pinned modules, the rest from the distribution's packages.
package toolchain

import "strings"

// Module is one tool module and what is built from it.
type Module struct {
	Dir      string // below the launcher's own directory
	Title    string // for people
	Path     string // the module whose version is shown, required by the tool module
	Estimate string // of a first build; empty when it is not worth a word
	Tags     string
	Targets  []Target
	// VersionVars are the packages that the version must be linked into.
	VersionVars []string
}

// Target is one program.
type Target struct {
	Package string
	Output  string
	Links   []string // further names of the same program
}

// Kubernetes is all its programs, in one binary.
func Kubernetes() Module {
	return Module{
		Dir: "kubernetes", Title: "Kubernetes", Path: "k8s.io/kubernetes",
		Estimate: "about 10 minutes on two cores",
		Targets: []Target{{
			Package: ".", Output: "kubernetes",
			Links: []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"},
		}},
		VersionVars: []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"},
	}
}

// Etcd is the API server's database.
func Etcd() Module {
	return Module{
		Dir: "etcd", Title: "etcd", Path: "go.etcd.io/etcd/server/v3",
		Estimate: "about a minute",
		Targets:  []Target{{Package: "go.etcd.io/etcd/server/v3", Output: "etcd"}},
	}
}

// Containerd is the container runtime, its shim and its client.
func Containerd() Module {
	const commands = "github.com/containerd/containerd/v2/cmd/"
	return Module{
		Dir: "containerd", Title: "containerd", Path: "github.com/containerd/containerd/v2",
		Estimate: "about a minute",
		Tags:     "no_btrfs no_devmapper no_zfs",
		Targets: []Target{
			{Package: commands + "containerd", Output: "containerd"},
			{Package: commands + "containerd-shim-runc-v2", Output: "containerd-shim-runc-v2"},
			{Package: commands + "ctr", Output: "ctr"},
		},
	}
}

// Kwok simulates nodes and their pods.
func Kwok() Module {
	return Module{
		Dir: "kwok", Title: "kwok", Path: "sigs.k8s.io/kwok",
		Estimate: "about two minutes",
		Targets:  []Target{{Package: "sigs.k8s.io/kwok/cmd/kwok", Output: "kwok"}},
	}
}

// Pause is the program of the sandbox containers.
func Pause() Module {
	return Module{
		Dir: ".", Title: "pause",
		Targets: []Target{{Package: "./pause", Output: "pause"}},
	}
}

// linkerFlags drops debug tables (a third of the size) and sets the version,
// without which Kubernetes calls itself v0.0.0.
func (m Module) linkerFlags(version string) string {
	flags := []string{"-s", "-w"}
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	for _, pkg := range m.VersionVars {
		flags = append(flags, "-X "+pkg+".gitVersion="+version)
		if len(parts) == 3 {
			flags = append(flags, "-X "+pkg+".gitMajor="+parts[0], "-X "+pkg+".gitMinor="+parts[1])
		}
	}
	return strings.Join(flags, " ")
}
