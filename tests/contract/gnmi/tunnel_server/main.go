// The reference implementation of a gRPC tunnel server, openconfig/grpctunnel, with what its own
// program lacks: a way in for clients.
//
//	tunnel_server PORT CERTIFICATE KEY CLIENT-CA
//
// listens at a port for routers (0: any), who have to show a certificate of CLIENT-CA unless it is
// empty, and writes what happens, a JSON object a line. For each target that a router registers it
// listens at a port, and leads who connects there to the target.
//
//	tunnel_server describe
//
// writes its messages as a FileDescriptorProto.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/openconfig/grpctunnel/bidi"
	tpb "github.com/openconfig/grpctunnel/proto/tunnel"
	"github.com/openconfig/grpctunnel/tunnel"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
)

// One thing that happened.
type event struct {
	Event  string `json:"event"`
	Target string `json:"target,omitempty"`
	Type   string `json:"type,omitempty"`
	Port   int    `json:"port,omitempty"`
	Reason string `json:"reason,omitempty"`
}

var (
	out  = json.NewEncoder(os.Stdout)
	lock sync.Mutex
)

func write(e event) {
	lock.Lock()
	defer lock.Unlock()
	check(out.Encode(e))
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "describe" {
		text, err := proto.Marshal(protodesc.ToFileDescriptorProto(tpb.File_proto_tunnel_tunnel_proto))
		check(err)
		_, err = os.Stdout.Write(text)
		check(err)
		return
	}
	if len(os.Args) != 5 {
		check(fmt.Errorf("usage: tunnel_server PORT CERTIFICATE KEY CLIENT-CA"))
	}
	options, err := tunnel.ServerTLSCredsOpts(os.Args[2], os.Args[3])
	if os.Args[4] != "" {
		options, err = tunnel.ServermTLSCredsOpts(os.Args[2], os.Args[3], os.Args[4])
	}
	check(err)
	var server *tunnel.Server
	doors := map[tunnel.Target]net.Listener{}
	server, err = tunnel.NewServer(tunnel.ServerConfig{
		AddTargetHandler: func(target tunnel.Target) error {
			lock.Lock()
			defer lock.Unlock()
			door := listen("0")
			doors[target] = door
			go lead(server, target, door)
			return out.Encode(event{"added", target.ID, target.Type, port(door), ""})
		},
		DeleteTargetHandler: func(target tunnel.Target) error {
			lock.Lock()
			defer lock.Unlock()
			doors[target].Close()
			return out.Encode(event{Event: "removed", Target: target.ID, Type: target.Type})
		},
	})
	check(err)
	go func() {
		for err := range server.ErrorChan() {
			write(event{Event: "error", Reason: err.Error()})
		}
	}()
	grpcServer := grpc.NewServer(options...)
	tpb.RegisterTunnelServer(grpcServer, server)
	routers := listen(os.Args[1])
	write(event{Event: "listening", Port: port(routers)})
	check(grpcServer.Serve(routers))
}

// Connections to a target.
func lead(server *tunnel.Server, target tunnel.Target, door net.Listener) {
	for {
		client, err := door.Accept()
		if err != nil {
			return
		}
		go func() {
			session, err := server.NewSession(
				context.Background(), tunnel.ServerSession{Target: target})
			if err != nil {
				write(event{Event: "rejected", Target: target.ID, Reason: err.Error()})
				client.Close()
				return
			}
			bidi.Copy(session, client)
		}()
	}
}

func listen(at string) net.Listener {
	found, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", at))
	check(err)
	return found
}

func port(listener net.Listener) int {
	return listener.Addr().(*net.TCPAddr).Port
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
