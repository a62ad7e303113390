package outcome

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// maxDetail bounds what a message takes over from others, in bytes.
const maxDetail = 512

// Wait is what a tool that has not started waits for.
type Wait struct {
	Reason  string
	Message string
	// Notable: not just the ordinary way to the start, so worth showing at once.
	Notable bool
}

// WaitsFor tells what an attempt without a running tool waits for. The pod may be nil.
func WaitsFor(p *Pod) Wait {
	switch {
	case p == nil:
		return Wait{Reason: v1alpha1.ReasonPodMissing, Message: "the Job has no pod yet"}
	case p.Unschedulable != "":
		return Wait{Reason: "Unschedulable", Message: OneLine(p.Unschedulable), Notable: true}
	case blocked(p.Tool):
		return Wait{Reason: conditionReason(p.Tool.Reason), Message: describe(p.Tool), Notable: true}
	case p.Initializing != "":
		return Wait{Reason: "PodInitializing", Message: fmt.Sprintf("init container %s has not finished", p.Initializing)}
	case p.Node == "":
		return Wait{Reason: v1alpha1.ReasonPodPending, Message: "the pod waits for a node"}
	default:
		return Wait{Reason: v1alpha1.ReasonPodPending, Message: "the pod's containers are being created"}
	}
}

// legalReason is what the API accepts as the reason of a condition.
var legalReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// conditionReason is a container's reason, if it can be one of a condition:
// runtimes are free to write what they like.
func conditionReason(reason string) string {
	if legalReason.MatchString(reason) {
		return reason
	}
	return v1alpha1.ReasonPodPending
}

// describe says in one line what state a container is in.
func describe(c Container) string {
	text := joined(c.Reason, c.Message)
	if c.State == Terminated {
		text = joined(fmt.Sprintf("container %s ended with exit code %d", c.Name, c.ExitCode), c.Message)
	}
	return OneLine(text)
}

func joined(head, tail string) string {
	if head == "" || tail == "" {
		return head + tail
	}
	return head + ": " + tail
}

// OneLine makes foreign text fit for a message: one line, no control
// characters, bounded in length.
func OneLine(text string) string {
	text = strings.ToValidUTF8(text, "�")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(text) <= maxDetail {
		return text
	}
	cut := strings.ToValidUTF8(text[:maxDetail], "")
	return cut + "…"
}
