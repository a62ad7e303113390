package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/cluster"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/process"
)

func commands() []command {
	return []command{
		{"up", "", "bring the cluster up, or repair it; a healthy one is left alone", plain(up)},
		{"down", "", "end the cluster and remove all it left on the machine", down},
		{"status", "", "say how each component is; fails unless all are healthy", plain(status)},
		{"env", "", "print what clients need, as NAME=value lines", plain(env)},
		{"assets", "", "build only what tests of a bare API server need, and print its directory", plain(assets)},
		{"kwok", "", "build the simulator of nodes and pods, and print its path", plain(kwok)},
		{"load", "FILE...", "load OCI archives into the cluster", plain(load)},
		{"build-image", "", "build a Dockerfile and load the image into the cluster", buildImage},
		{"logs", "COMPONENT", "print the log of a component", logs},
		{"pid", "COMPONENT", "print the process number of a component", plain(pid)},
		{"stop-component", "COMPONENT", "kill a component, as a crash would", plain(stopComponent)},
		{"start-component", "COMPONENT", "start a component and wait until it serves", plain(startComponent)},
		{"pause", "COMPONENT", "hold a component (SIGSTOP), as a node that hangs", plain(signalComponent(syscall.SIGSTOP))},
		{"continue", "COMPONENT", "let a held component go on (SIGCONT)", plain(signalComponent(syscall.SIGCONT))},
	}
}

// body is what a command does once its flags are known.
type body = func(context.Context, invocation) error

// plain is for commands without flags of their own.
func plain(b body) func(*flag.FlagSet) body {
	return func(*flag.FlagSet) body { return b }
}

func up(ctx context.Context, i invocation) error {
	c, err := i.launcher.Up(ctx)
	if err != nil {
		return err
	}
	i.launcher.Console.Printf("The cluster is ready: export KUBECONFIG=%s (kubectl is %s)", c.Layout.Kubeconfig(), c.Layout.Program("kubectl"))
	return nil
}

func down(flags *flag.FlagSet) body {
	all := flags.Bool("all", false, "delete the built programs, too")
	return func(ctx context.Context, i invocation) error {
		return i.launcher.Down(ctx, *all)
	}
}

func status(ctx context.Context, i invocation) error {
	c, err := i.launcher.Open()
	if err != nil {
		return err
	}
	statuses, healthy, err := c.Status(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(i.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tPID\tSTATE")
	for _, s := range statuses {
		fmt.Fprintf(table, "%s\t%d\t%s\n", s.Name, s.PID, s.State)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the status: %w", err)
	}
	if !healthy {
		return errors.New("the cluster is not healthy: \"localcluster up\" repairs it")
	}
	return nil
}

func env(_ context.Context, i invocation) error {
	c, err := i.launcher.Open()
	if err != nil {
		return err
	}
	fmt.Fprintf(i.out, "KUBECONFIG=%s\nAPI_HOST=127.0.0.1\nAPI_PORT=%d\nKUBECTL=%s\n",
		c.Layout.Kubeconfig(), c.Config.Ports.APIServer, c.Layout.Program("kubectl"))
	return nil
}

func assets(ctx context.Context, i invocation) error {
	dir, err := i.launcher.Assets(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(i.out, dir)
	return nil
}

func kwok(ctx context.Context, i invocation) error {
	program, err := i.launcher.Kwok(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(i.out, program)
	return nil
}

func load(ctx context.Context, i invocation) error {
	if len(i.args) == 0 {
		return errors.New("load needs at least one OCI archive")
	}
	c, err := i.launcher.Open()
	if err != nil {
		return err
	}
	return c.Load(ctx, i.args...)
}

func buildImage(flags *flag.FlagSet) body {
	var build cluster.ImageBuild
	flags.StringVar(&build.File, "file", "Dockerfile", "the `Dockerfile`")
	flags.StringVar(&build.Context, "context", ".", "the `directory` that COPY reads from")
	flags.StringVar(&build.Tag, "tag", "", "the image's `name`, such as localhost/manager:dev")
	flags.Func("build-arg", "`NAME=value`, may be repeated; BASE is scratch by default", func(value string) error {
		if !strings.Contains(value, "=") {
			return errors.New("want NAME=value")
		}
		build.Args = append(build.Args, value)
		return nil
	})
	return func(ctx context.Context, i invocation) error {
		if build.Tag == "" {
			return errors.New("build-image needs --tag")
		}
		c, err := i.launcher.Open()
		if err != nil {
			return err
		}
		return c.BuildImage(ctx, build)
	}
}

func logs(flags *flag.FlagSet) body {
	lines := flags.Int("n", 0, "print only the last `lines`")
	return func(_ context.Context, i invocation) error {
		name, err := i.component()
		if err != nil {
			return err
		}
		path := i.launcher.Layout.Log(name)
		if *lines > 0 {
			tail, err := process.Tail(path, *lines)
			if err != nil {
				return err
			}
			fmt.Fprintln(i.out, tail)
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("open the log: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read
		if _, err := io.Copy(i.out, f); err != nil {
			return fmt.Errorf("print the log: %w", err)
		}
		return nil
	}
}

func pid(_ context.Context, i invocation) error {
	return i.withComponent(func(c *cluster.Cluster, name string) error {
		number, err := c.PID(name)
		if err != nil {
			return err
		}
		fmt.Fprintln(i.out, number)
		return nil
	})
}

func signalComponent(signal syscall.Signal) body {
	return func(_ context.Context, i invocation) error {
		return i.withComponent(func(c *cluster.Cluster, name string) error {
			return c.Signal(name, signal)
		})
	}
}

func stopComponent(ctx context.Context, i invocation) error {
	name, err := i.component()
	if err != nil {
		return err
	}
	return i.launcher.StopComponent(ctx, name)
}

func startComponent(ctx context.Context, i invocation) error {
	name, err := i.component()
	if err != nil {
		return err
	}
	return i.launcher.StartComponent(ctx, name)
}

// component is the one argument of the commands that act on a component.
func (i invocation) component() (string, error) {
	names := strings.Join(cluster.ComponentNames(), ", ")
	if len(i.args) != 1 {
		return "", fmt.Errorf("which component? One of %s", names)
	}
	if !slices.Contains(cluster.ComponentNames(), i.args[0]) {
		return "", fmt.Errorf("no component %q; there are %s", i.args[0], names)
	}
	return i.args[0], nil
}

func (i invocation) withComponent(act func(*cluster.Cluster, string) error) error {
	name, err := i.component()
	if err != nil {
		return err
	}
	c, err := i.launcher.Open()
	if err != nil {
		return err
	}
	return act(c, name)
}
