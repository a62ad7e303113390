package oci

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// The images every local cluster has.
const (
	BusyboxName = "localhost/busybox:dev"
	PauseName   = "localhost/pause:dev"
)

const accounts = `root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/:/bin/false
nonroot:x:65532:65532:nonroot:/tmp:/bin/sh
`

const groups = `root:x:0:
nogroup:x:65534:
nonroot:x:65532:
`

// Pause makes the sandbox image from the static pause program.
func Pause(program, architecture string) (Image, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", PauseName, err)
	}
	return Image{
		Name:         PauseName,
		Architecture: architecture,
		Config:       v1.ImageConfig{Entrypoint: []string{"/pause"}, User: "65532:65532"},
		Files:        []File{{Path: "pause", Mode: 0o755, Content: content}},
	}, nil
}

// Busybox makes the tool image from the host's static busybox, with a link for
// each of its commands.
func Busybox(program, architecture string) (Image, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", BusyboxName, err)
	}
	list, err := exec.Command(program, "--list-full").Output()
	if err != nil {
		return Image{}, fmt.Errorf("image %s: list the commands of %s: %w", BusyboxName, program, err)
	}
	return Image{
		Name:         BusyboxName,
		Architecture: architecture,
		Config: v1.ImageConfig{
			Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
			Cmd: []string{"sh"},
		},
		Files: busyboxFiles(content, strings.Fields(string(list))),
	}, nil
}

func busyboxFiles(program []byte, commands []string) []File {
	files := []File{
		{Path: "bin/busybox", Mode: 0o755, Content: program},
		{Path: "etc/passwd", Mode: 0o644, Content: []byte(accounts)},
		{Path: "etc/group", Mode: 0o644, Content: []byte(groups)},
		{Path: "root", Mode: fs.ModeDir | 0o700},
		{Path: "tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
		{Path: "var/tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}
	for _, command := range commands {
		if command != "bin/busybox" {
			files = append(files, File{Path: command, Mode: 0o777, Link: "/bin/busybox"})
		}
	}
	return withParents(files)
}

// withParents adds the missing directories and sorts, so that a directory comes
// before what is in it.
func withParents(files []File) []File {
	known := map[string]bool{".": true}
	for _, f := range files {
		known[f.Path] = true
	}
	for _, f := range files {
		for dir := path.Dir(f.Path); !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			files = append(files, File{Path: dir, Mode: fs.ModeDir | 0o755})
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files
}
