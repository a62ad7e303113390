package render

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// Call is the ToolCall of a batch's call.
func Call(batch *v1alpha1.ToolBatch, index int) *v1alpha1.ToolCall {
	spec := &batch.Spec.Calls[index]
	return &v1alpha1.ToolCall{
		ObjectMeta: metav1.ObjectMeta{
			Name:      CallName(batch, index),
			Namespace: batch.Namespace,
			Labels: map[string]string{
				v1alpha1.LabelBatchUID: string(batch.UID),
				v1alpha1.LabelBatch:    labelValue(batch.Name),
				v1alpha1.LabelIndex:    strconv.Itoa(index),
			},
			Annotations:     map[string]string{v1alpha1.AnnotationBatch: batch.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(batch, v1alpha1.GroupVersion.WithKind("ToolBatch"))},
		},
		Spec: v1alpha1.ToolCallSpec{
			Template:  *spec.Template.DeepCopy(),
			Timeout:   spec.Timeout,
			Inherited: inherited(batch),
		},
	}
}

func inherited(batch *v1alpha1.ToolBatch) *v1alpha1.Inherited {
	if batch.Spec.CallTimeout == nil {
		return nil
	}
	return &v1alpha1.Inherited{CallTimeout: batch.Spec.CallTimeout}
}
