// Command crddefaults adds defaults to generated CRDs that no marker can put
// there, because the fields are of Kubernetes' own types.
//
// A Go client always writes these structs, empty ones as {}. Without a default,
// a call made from a manifest that leaves them out would differ from what a Go
// client writes back, and so break the rule that a template is immutable. It
// does not suit templates within an atomic list, such as the calls of a batch:
// there, whoever applies the manifest again would see a difference.
package main

import (
	"fmt"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := rewrite(path); err != nil {
			fmt.Fprintf(os.Stderr, "crddefaults: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

func rewrite(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	crd := map[string]any{}
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return err
	}
	addDefaults(crd)
	if data, err = yaml.Marshal(crd); err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(data, &apiextensionsv1.CustomResourceDefinition{}); err != nil {
		return fmt.Errorf("no longer a CRD: %w", err)
	}
	return os.WriteFile(path, append([]byte("---\n"), data...), 0o644)
}

// addDefaults walks a schema and gives every container's resources, and every
// template's metadata, the default {}.
func addDefaults(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			addDefaults(item)
		}
	case map[string]any:
		for _, value := range node {
			addDefaults(value)
		}
		setDefault(node, "template", "properties", "metadata")
		for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
			setDefault(node, list, "items", "properties", "resources")
		}
	}
}

// setDefault sets the default {} on the schema at the end of a path, if it is there.
func setDefault(node map[string]any, path ...string) {
	for _, key := range path {
		next, ok := node[key].(map[string]any)
		if !ok {
			return
		}
		node = next
	}
	node["default"] = map[string]any{}
}
