package render_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/render"
)

// B117, B118: every name that an object may have leads to legal names.
var oddNames = []string{
	"a", "1abc", "a.b.c", "x--y", strings.Repeat("a", 52), strings.Repeat("a", 57), strings.Repeat("a", 63),
	strings.Repeat("a", 64), strings.Repeat("a.b-", 50), strings.Repeat("a", 253), strings.Repeat("a", 49) + "." + strings.Repeat("b", 20),
}

func namedCall(name, uid string) *v1alpha1.ToolCall {
	c := &v1alpha1.ToolCall{}
	c.Name, c.Namespace, c.UID = name, "ns", types.UID(uid)
	return c
}

func namedBatch(name, uid string, calls ...*string) *v1alpha1.ToolBatch {
	b := &v1alpha1.ToolBatch{}
	b.Name, b.Namespace, b.UID = name, "ns", types.UID(uid)
	for _, call := range calls {
		b.Spec.Calls = append(b.Spec.Calls, v1alpha1.BatchCall{Name: call})
	}
	return b
}

func TestJobNamesAreLegalForCallsOfAnyName(t *testing.T) {
	for _, name := range oddNames {
		got := render.JobName(namedCall(name, "uid"), 1)
		if errs := validation.IsDNS1123Label(got); len(errs) > 0 {
			t.Errorf("JobName(%q) = %q: %v", name, got, errs)
		}
	}
}

func TestJobNamesDifferByCallAndAttempt(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []*v1alpha1.ToolCall{
		namedCall("find", "uid-1"), namedCall("find", "uid-2"),
		namedCall(strings.Repeat("a", 253), "uid-3"), namedCall(strings.Repeat("a", 252), "uid-4"),
	} {
		for attempt := range int32(3) {
			name := render.JobName(c, attempt+1)
			if seen[name] {
				t.Errorf("JobName(%s, %d) = %q, which another has", c.UID, attempt+1, name)
			}
			seen[name] = true
			if again := render.JobName(c, attempt+1); again != name {
				t.Errorf("JobName = %q, then %q", name, again)
			}
		}
	}
}

func TestCallNamesAreLegalForBatchesOfAnyName(t *testing.T) {
	long := strings.Repeat("c", 63)
	for _, name := range oddNames {
		b := namedBatch(name, "uid", nil, &long)
		for i := range b.Spec.Calls {
			got := render.CallName(b, i)
			if errs := validation.IsDNS1123Subdomain(got); len(errs) > 0 {
				t.Errorf("CallName(%q, %d) = %q: %v", name, i, got, errs)
			}
		}
	}
}

func TestABatchThatWasCreatedAnewHasOtherCalls(t *testing.T) {
	before, after := render.CallName(namedBatch("batch", "uid-1", nil), 0), render.CallName(namedBatch("batch", "uid-2", nil), 0)
	if before == after {
		t.Errorf("CallName = %q for both", before)
	}
}

func TestAnUnnamedCallIsCalledByItsIndex(t *testing.T) {
	name := "find"
	b := namedBatch("batch", "uid", &name, nil)
	if got := []string{render.BatchCallName(b, 0), render.BatchCallName(b, 1)}; got[0] != "find" || got[1] != "1" {
		t.Errorf("BatchCallName = %q, want find and 1", got)
	}
}

func TestLabelsAreLegalForCallsOfAnyName(t *testing.T) {
	for _, name := range oddNames {
		job, err := render.Job(namedCall(name, "uid"), 1, call.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range job.Labels {
			if errs := validation.IsValidLabelValue(value); len(errs) > 0 {
				t.Errorf("call %q: label %s=%q: %v", name, key, value, errs)
			}
		}
		if got := job.Annotations[v1alpha1.AnnotationCall]; got != name {
			t.Errorf("annotation = %q, want the full name %q", got, name)
		}
	}
}
