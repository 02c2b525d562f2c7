package check

import (
	"context"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

func TestComposeHasThreeNodesWithPortsOfTheirOwn(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]string{}
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		node, err := project.GetService(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(node.Ports) != 2 || !node.ReadOnly {
			t.Errorf("%s: %+v", name, node.Ports)
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
