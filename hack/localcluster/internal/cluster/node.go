package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/layout"
)

// uninitialized is put on nodes of an external cloud until the cloud, here the
// launcher, has set their addresses.
const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

func (c *Cluster) client() (*v1.CoreV1Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Layout.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.Timeout = 10 * time.Second
	client, err := v1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return client, nil
}

// ensureNode creates the node before the kubelet does, with the address through
// which the API server reaches the kubelet. The kubelet keeps what it finds.
func ensureNode(ctx context.Context, nodes v1.NodeInterface) error {
	node, err := nodes.Get(ctx, layout.NodeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		node, err = nodes.Create(ctx, newNode(), metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("create the node: %w", err)
	}
	if removeTaint(node, uninitialized) {
		if node, err = nodes.Update(ctx, node, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("remove the taint of the node: %w", err)
		}
	}
	if setAddresses(node) {
		if _, err := nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("set the address of the node: %w", err)
		}
	}
	return nil
}

func newNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: layout.NodeName,
		Labels: map[string]string{
			corev1.LabelHostname:                    layout.NodeName,
			"node-role.kubernetes.io/control-plane": "",
			"node-role.kubernetes.io/worker":        "",
		},
	}}
}

func removeTaint(node *corev1.Node, key string) bool {
	before := len(node.Spec.Taints)
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
	return len(node.Spec.Taints) < before
}

func setAddresses(node *corev1.Node) bool {
	wanted := []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: "127.0.0.1"},
		{Type: corev1.NodeHostName, Address: layout.NodeName},
	}
	if slices.Equal(node.Status.Addresses, wanted) {
		return false
	}
	node.Status.Addresses = wanted
	return true
}

// ready says whether the kubelet has reported Ready since the given time. What
// an earlier kubelet reported says nothing.
func ready(node *corev1.Node, since time.Time) bool {
	tainted := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
	})
	return !tainted && slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue &&
			!condition.LastHeartbeatTime.Time.Before(since.Truncate(time.Second))
	})
}

// awaitReady waits until the node takes pods and the default namespace has what
// every pod of it needs.
func (c *Cluster) awaitReady(ctx context.Context, client v1.CoreV1Interface, since time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if missing, err := notReady(ctx, client, since); missing == "" && err == nil {
		return nil
	}
	step := c.console.Start("Waiting for the node to be ready")
	for {
		missing, err := notReady(ctx, client, since)
		if missing == "" && err == nil {
			step.Done("ready")
			return nil
		}
		if sleep(ctx, checkEvery) != nil {
			kubeletComponent, _ := c.component(kubelet)
			return c.explain(kubeletComponent, fmt.Errorf("not ready after %s: %s (%w)", startLimit, missing, err))
		}
		step.Update("%s", missing)
	}
}

func notReady(ctx context.Context, client v1.CoreV1Interface, since time.Time) (missing string, err error) {
	node, err := client.Nodes().Get(ctx, layout.NodeName, metav1.GetOptions{})
	if err != nil || !ready(node, since) {
		return "node " + layout.NodeName, err
	}
	if _, err := client.ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return "service account default", err
	}
	if _, err := client.ConfigMaps(metav1.NamespaceDefault).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
		return "configmap kube-root-ca.crt", err
	}
	return "", nil
}
