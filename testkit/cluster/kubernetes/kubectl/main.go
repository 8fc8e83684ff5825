// kubectl, alone: in one program with the servers it would start all that they prepare, which takes longer than its work.
package main

import (
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
