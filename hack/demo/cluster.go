package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

// demo is the connection to the cluster.
type demo struct {
	access cluster.Access
	client client.WithWatch
}

func connect(access cluster.Access) (*demo, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = access.Kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return &demo{access: access, client: c}, nil
}

// load reads the batch and puts it into the demo's namespace.
func load(path, image string) (*v1alpha1.ToolBatch, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the batch: %w", err)
	}
	batch := &v1alpha1.ToolBatch{}
	if err := yaml.UnmarshalStrict(raw, batch); err != nil {
		return nil, fmt.Errorf("read the batch in %s: %w", path, err)
	}
	batch.Namespace = cluster.DemoNamespace
	if image == "" {
		return batch, nil
	}
	for i := range batch.Spec.Calls {
		containers := batch.Spec.Calls[i].Template.Spec.Containers
		for j := range containers {
			containers[j].Image = image
		}
	}
	return batch, nil
}

// checkOperator fails early, with what to do, where nobody would run the batch.
func (d *demo) checkOperator(ctx context.Context) error {
	err := d.client.List(ctx, &v1alpha1.ToolBatchList{}, client.Limit(1))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return errors.New("the cluster does not know ToolBatches: `make deploy` installs the operator")
	}
	if err != nil {
		return fmt.Errorf("list ToolBatches: %w", err)
	}
	operator := &appsv1.Deployment{}
	err = d.client.Get(ctx, client.ObjectKey{Namespace: cluster.OperatorNamespace, Name: cluster.OperatorName}, operator)
	if err != nil {
		return fmt.Errorf("find the operator (`make deploy` puts it into the cluster): %w", err)
	}
	if operator.Status.ReadyReplicas == 0 {
		return fmt.Errorf("the operator is not ready: see `kubectl describe deployment,pods -n %s`", cluster.OperatorNamespace)
	}
	return nil
}

// create replaces the batch of an earlier run.
func (d *demo) create(ctx context.Context, batch *v1alpha1.ToolBatch) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: cluster.DemoNamespace,
		// The tools run at the strictest level of Pod Security.
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := d.client.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the namespace: %w", err)
	}
	if err := d.clear(ctx, client.ObjectKeyFromObject(batch)); err != nil {
		return fmt.Errorf("remove the batch of an earlier run: %w", err)
	}
	if err := d.client.Create(ctx, batch); err != nil {
		return fmt.Errorf("create the batch: %w", err)
	}
	return nil
}

// clear deletes the batch and waits until its calls are gone: the new ones have
// the same names.
func (d *demo) clear(ctx context.Context, key client.ObjectKey) error {
	old := &v1alpha1.ToolBatch{}
	if err := d.client.Get(ctx, key, old); err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := d.client.Delete(ctx, old); client.IgnoreNotFound(err) != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		calls := &v1alpha1.ToolCallList{}
		if err := d.client.List(ctx, calls, callsOf(old)...); err != nil || len(calls.Items) > 0 {
			return false, err
		}
		err := d.client.Get(ctx, key, &v1alpha1.ToolBatch{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

func callsOf(batch *v1alpha1.ToolBatch) []client.ListOption {
	return []client.ListOption{
		client.InNamespace(batch.Namespace),
		client.MatchingLabels{v1alpha1.LabelBatchUID: string(batch.UID)},
	}
}
