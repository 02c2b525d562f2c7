// Package check builds the Kustomize folders as kubectl does, and reads each resource into Kubernetes' own types: a
// field that does not exist is an error. Agones' types are written down here, since its module is not on the proxy.
package check

import (
	"bytes"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// fleet is https://agones.dev/site/docs/reference/fleet/, as far as it is used here.
type fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Replicas int32                     `json:"replicas"`
		Strategy appsv1.DeploymentStrategy `json:"strategy"`
		Template struct {
			metav1.ObjectMeta `json:"metadata"`
			Spec              gameServerSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type gameServerSpec struct {
	Container string `json:"container"`
	Ports     []struct {
		Name          string `json:"name"`
		PortPolicy    string `json:"portPolicy"`
		ContainerPort int32  `json:"containerPort"`
		HostPort      int32  `json:"hostPort"`
		Protocol      string `json:"protocol"`
	} `json:"ports"`
	Health struct {
		InitialDelaySeconds int32 `json:"initialDelaySeconds"`
		PeriodSeconds       int32 `json:"periodSeconds"`
		FailureThreshold    int32 `json:"failureThreshold"`
	} `json:"health"`
	Template corev1.PodTemplateSpec `json:"template"`
}

// resources are those of one folder, each read strictly into its own type, by kind and name.
func resources(t *testing.T, folder string) map[string]any {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]any{}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var kind metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatal(err)
		}
		into := map[string]any{
			"Deployment": &appsv1.Deployment{},
			"Fleet":      &fleet{},
			"Job":        &batchv1.Job{},
			"Namespace":  &corev1.Namespace{},
			"Service":    &corev1.Service{},
		}[kind.Kind]
		if into == nil {
			t.Fatalf("%s: no type for a %s", folder, kind.Kind)
		}
		if err := yaml.UnmarshalStrict(document, into); err != nil {
			t.Errorf("%s %s: %v", kind.Kind, kind.Name, err)
		}
		if kind.Kind != "Namespace" && kind.Namespace != "skipstone" {
			t.Errorf("%s %s is in namespace %q", kind.Kind, kind.Name, kind.Namespace)
		}
		found[kind.Kind+" "+kind.Name] = into
	}
	return found
}

func TestTheFleetListensWhereAgonesLooks(t *testing.T) {
	own := resources(t, "../kubernetes")["Fleet game"].(*fleet).Spec.Template.Spec
	pod := own.Template.Spec
	if len(pod.Containers) != 1 || pod.Containers[0].Name != own.Container {
		t.Fatalf("the game server's container is %q", own.Container)
	}
	if port := own.Ports[0]; port.ContainerPort != 7777 || port.Protocol != "TCPUDP" || port.PortPolicy != "Static" {
		t.Errorf("%+v", port)
	}
	args := strings.Join(pod.Containers[0].Args, " ")
	for _, word := range []string{"serve --agones", "--fleet=nats://nats:4222", "--node=$(POD_NAME)", "--advertise=$(HOST_IP):7777"} {
		if !strings.Contains(args, word) {
			t.Errorf("no %s in %s", word, args)
		}
	}
}

func TestAllServersOfTheFleetProveOneIdentity(t *testing.T) {
	pod := resources(t, "../kubernetes")["Fleet game"].(*fleet).Spec.Template.Spec.Template.Spec
	server, secrets := pod.Containers[0], map[string]string{}
	for _, volume := range pod.Volumes {
		if volume.Secret != nil {
			secrets[volume.Name] = volume.Secret.SecretName
		}
	}
	file := ""
	for _, word := range server.Args {
		if name, is := strings.CutPrefix(word, "--identity="); is {
			file = name
		}
	}
	for _, mount := range server.VolumeMounts {
		if strings.HasPrefix(file, mount.MountPath+"/") && secrets[mount.Name] != "" {
			return
		}
	}
	t.Errorf("the identity %q is in none of the Secrets %v, so that each pod has its own and no player can move", file, secrets)
}

func TestNatsIsWhereTheOthersLookForIt(t *testing.T) {
	found := resources(t, "../kubernetes")
	service := found["Service nats"].(*corev1.Service).Spec
	labels := found["Deployment nats"].(*appsv1.Deployment).Spec.Template.Labels
	for key, value := range service.Selector {
		if labels[key] != value {
			t.Errorf("the service selects %s=%s, which no pod has", key, value)
		}
	}
	if service.Ports[0].Port != 4222 {
		t.Errorf("%+v", service.Ports)
	}
}

func TestNoContainerOfOursIsRootOrWritesIntoItsImage(t *testing.T) {
	pods := map[string]corev1.PodSpec{
		"game":   resources(t, "../kubernetes")["Fleet game"].(*fleet).Spec.Template.Spec.Template.Spec,
		"agents": resources(t, "../kubernetes/agents")["Job agents"].(*batchv1.Job).Spec.Template.Spec,
	}
	for name, pod := range pods {
		own := pod.Containers[0].SecurityContext
		if !*pod.SecurityContext.RunAsNonRoot || !*own.ReadOnlyRootFilesystem || *own.AllowPrivilegeEscalation {
			t.Errorf("%s may do more than it needs", name)
		}
	}
}
