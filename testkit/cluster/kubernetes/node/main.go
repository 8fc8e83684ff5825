// The programs that a node needs, in one. The control plane does without, so that it builds sooner.
package main

import (
	"context"

	_ "k8s.io/component-base/logs/json/register"

	"github.com/spf13/cobra"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"trainwright.dev/e2e/kubernetes/multicall"
)

func main() {
	multicall.Run(map[string]func(){
		"kube-proxy":     multicall.Component(proxy.NewProxyCommand),
		"kube-scheduler": multicall.Component(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		"kubelet":        multicall.Component(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	})
}
