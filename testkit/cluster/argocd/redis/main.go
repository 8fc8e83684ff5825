// A Redis in memory for Argo CD's processes: they keep only caches in it, and send messages through it.
package main

import (
	"log"
	"os"
	"time"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	// Entries expire only when the server is told that time passes.
	for range time.Tick(time.Second) {
		server.FastForward(time.Second)
	}
}
