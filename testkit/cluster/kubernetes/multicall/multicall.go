// Package multicall makes one program out of many. A symbolic link gives it its name:
// `kubectl -> kubernetes` runs kubectl. One program links the shared code once, so it builds in a
// third of the time of three, and the pages of its text are shared in memory.
package multicall

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
)

// Run is the program that we were called as.
func Run(programs map[string]func()) {
	name := filepath.Base(os.Args[0])
	run, known := programs[name]
	if !known {
		names := slices.Sorted(maps.Keys(programs))
		fmt.Fprintf(os.Stderr, "%q is none of the programs in here: %s\n", name, strings.Join(names, ", "))
		os.Exit(2)
	}
	run()
}

// Component is one of Kubernetes' own programs.
func Component(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}
