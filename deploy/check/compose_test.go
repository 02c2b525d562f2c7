package check

import (
	"context"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

func TestComposeHasThreeNodesWithPortsOfTheirOwnAndOneIdentity(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	taken, identities := map[string]string{}, map[string]string{}
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		node, err := project.GetService(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(node.Ports) != 2 || !node.ReadOnly {
			t.Errorf("%s: %+v", name, node.Ports)
		}
		command := strings.Join(node.Command, " ")
		if !strings.Contains(command, "--identity=/var/lib/skipstone/identity.pem") {
			t.Errorf("%s has an identity of its own, so that no player can move to it: %s", name, command)
		}
		for _, volume := range node.Volumes {
			identities[volume.Target] = volume.Source
		}
		if identities["/var/lib/skipstone"] != "identity" {
			t.Errorf("%s keeps its identity in no volume that the nodes share: %v", name, node.Volumes)
		}
		for _, port := range node.Ports {
			key := port.Published + "/" + port.Protocol
			if other, is := taken[key]; is {
				t.Errorf("%s and %s both want %s", name, other, key)
			}
			taken[key] = name
		}
	}
}
