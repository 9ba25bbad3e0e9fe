// gnmi_peer is what srv6-gnmid is measured against and with: openconfig's own cache and Subscribe
// server, and a reader that costs little, the same for both.
package main

import (
	"fmt"
	"os"
)

func main() {
	commands := map[string]func([]string) error{"serve": serve, "read": read}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: gnmi_peer serve|read -help")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "gnmi_peer:", err)
		os.Exit(1)
	}
}
