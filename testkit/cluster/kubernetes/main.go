// The programs that every test of the control plane starts, in one.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"trainwright.dev/e2e/kubernetes/multicall"
)

func main() {
	multicall.Run(map[string]func(){
		"etcd":                    func() { etcdmain.Main(os.Args) },
		"kube-apiserver":          multicall.Component(apiserver.NewAPIServerCommand),
		"kube-controller-manager": multicall.Component(controllermanager.NewControllerManagerCommand),
	})
}
