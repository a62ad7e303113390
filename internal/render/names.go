// Package render makes the objects that the operator creates. It is pure.
package render

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

const (
	// maxLabelValue is also the longest name of a Job, which Kubernetes copies
	// into a label of its pods.
	maxLabelValue = 63
	// maxName is the longest name of an object of our own kinds.
	maxName = 253
)

// JobName is the name of the Job of an attempt: readable, at most 63
// characters, the same at every try, and different for a call of the same name
// that was created anew.
func JobName(call *v1alpha1.ToolCall, attempt int32) string {
	suffix := fmt.Sprintf("-%s-%d", hash(string(call.UID), 10), attempt)
	return prefix(strings.ReplaceAll(call.Name, ".", "-"), maxLabelValue-len(suffix)) + suffix
}

// CallName is the name of the ToolCall of a batch's call, with the same
// properties as JobName within 253 characters.
func CallName(batch *v1alpha1.ToolBatch, index int) string {
	suffix := fmt.Sprintf("-%s-%s", BatchCallName(batch, index), hash(string(batch.UID), 5))
	return prefix(batch.Name, maxName-len(suffix)) + suffix
}

// BatchCallName is the name of a call within its batch: its own, or its index.
func BatchCallName(batch *v1alpha1.ToolBatch, index int) string {
	if name := batch.Spec.Calls[index].Name; name != nil {
		return *name
	}
	return fmt.Sprint(index)
}

// labelValue is the name if it fits a label value, else a prefix and a hash.
func labelValue(name string) string {
	if len(name) <= maxLabelValue {
		return name
	}
	suffix := "-" + hash(name, 10)
	return prefix(name, maxLabelValue-len(suffix)) + suffix
}

// prefix cuts a name to at most n characters and to an alphanumeric end.
func prefix(name string, n int) string {
	return strings.TrimRight(name[:min(len(name), n)], "-._")
}

// hash is n characters that are legal in a name and stand for text.
func hash(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:n]
}
