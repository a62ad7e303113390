package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

// report prints the typed results, and how to go on.
func (d *demo) report(ctx context.Context, batch *v1alpha1.ToolBatch) error {
	if err := d.client.Get(ctx, client.ObjectKeyFromObject(batch), batch); err != nil {
		return fmt.Errorf("read the results: %w", err)
	}
	calls := make([]v1alpha1.ToolCall, len(batch.Status.Calls))
	for i, result := range batch.Status.Calls {
		key := client.ObjectKey{Namespace: batch.Namespace, Name: result.ToolCall}
		if err := d.client.Get(ctx, key, &calls[i]); err != nil {
			return fmt.Errorf("read the result of %s: %w", result.Name, err)
		}
	}
	fmt.Printf("\nThe typed results:\n\n%s\n", results(batch, calls, outputWidth()))
	if told := messages(batch, calls); told != "" {
		fmt.Printf("\nWhat the agent is told of the calls that did not succeed:\n\n%s", told)
	}
	if fact := promptness(batch, calls); fact != "" {
		fmt.Printf("\n%s\n", fact)
	}
	fmt.Print(d.onwards())
	return nil
}

func results(batch *v1alpha1.ToolBatch, calls []v1alpha1.ToolCall, width int) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleDefault)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Box.PaddingLeft, t.Style().Box.PaddingRight = "  ", ""
	t.AppendHeader(table.Row{"CALL", "PHASE", "KIND", "REASON", "EFFECT", "EXIT", "DURATION", "OUTPUT"})
	for i := range calls {
		status := &calls[i].Status
		kind, reason := "-", "-"
		if status.Error != nil {
			kind, reason = string(status.Error.Kind), status.Error.Reason
		}
		t.AppendRow(table.Row{
			batch.Status.Calls[i].Name, status.Phase, kind, reason, orDash(string(status.EffectDisposition)),
			exitCode(status.Result), orDash(string(status.Duration)), firstLine(status.Result, width),
		})
	}
	rendered := strings.Split(t.Render(), "\n")
	for i := range rendered {
		rendered[i] = strings.TrimRight(rendered[i], " ")
	}
	return strings.Join(rendered, "\n")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func exitCode(result *v1alpha1.CallResult) string {
	if result == nil || result.ExitCode == nil {
		return "-"
	}
	return fmt.Sprint(*result.ExitCode)
}

// firstLine of the output, cut to the width.
func firstLine(result *v1alpha1.CallResult, width int) string {
	if result == nil {
		return "-"
	}
	output := result.Output
	if result.Encoding == v1alpha1.EncodingBase64 {
		if raw, err := base64.StdEncoding.DecodeString(output); err == nil {
			output = strings.ToValidUTF8(string(raw), "?")
		}
	}
	first, _, _ := strings.Cut(strings.TrimRight(output, "\n"), "\n")
	// A tool's output must not steer the terminal.
	first = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, first)
	if runes := []rune(first); len(runes) > width {
		first = string(runes[:width-1]) + "…"
	}
	return orDash(first)
}

// outputWidth is what the other columns leave to the output.
func outputWidth() int {
	const others, narrow, wide = 80, 24, 60
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return wide
	}
	return min(max(width-others, narrow), wide)
}

func messages(batch *v1alpha1.ToolBatch, calls []v1alpha1.ToolCall) string {
	var b strings.Builder
	for i := range calls {
		if e := calls[i].Status.Error; e != nil {
			fmt.Fprintf(&b, "  %-14s %s\n", batch.Status.Calls[i].Name, e.Message)
		}
	}
	return b.String()
}

// promptness says how soon after a timeout the next call of a sequence began.
func promptness(batch *v1alpha1.ToolBatch, calls []v1alpha1.ToolCall) string {
	if batch.Spec.Mode != v1alpha1.ModeSequential {
		return ""
	}
	for i := 0; i+1 < len(calls); i++ {
		ended, next := calls[i].Status.CompletionTime, calls[i+1].Status.StartTime
		if calls[i].Status.Phase != v1alpha1.ToolCallTimedOut || ended == nil || next == nil {
			continue
		}
		return fmt.Sprintf("%s began %s after the verdict on %s, without waiting for its pod to die.",
			batch.Status.Calls[i+1].Name, next.Sub(ended.Time).Round(time.Millisecond), batch.Status.Calls[i].Name)
	}
	return ""
}

// onwards is what to type next.
func (d *demo) onwards() string {
	kubectl := "kubectl"
	if _, err := exec.LookPath(kubectl); err != nil {
		kubectl = d.access.Kubectl
	}
	var b strings.Builder
	b.WriteString("\nTo look at them yourself:\n\n")
	if d.access.Kubeconfig != "" {
		fmt.Fprintf(&b, "  export KUBECONFIG=%s\n", d.access.Kubeconfig)
	}
	fmt.Fprintf(&b, "  %s get toolcalls -n %s\n\n", kubectl, cluster.DemoNamespace)
	return b.String()
}
