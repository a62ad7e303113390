// Package v1alpha1 is the vocabulary of the toolcall.dev API: the kinds, their
// validation, and the names of conditions and reasons. It holds no logic.
//
// +kubebuilder:object:generate=true
// +groupName=toolcall.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "toolcall.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	return schemeBuilder.AddToScheme(scheme)
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&ToolCall{}, &ToolCallList{},
		&ToolBatch{}, &ToolBatchList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
