package main

import (
	"flag"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/openconfig/gnmi/cache"
	pb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/subscribe"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

var counters = []string{"in-pkts", "in-octets", "in-errors"}

// serve fills openconfig's cache with the counters of all SIDs once in an interval, and lets its
// Subscribe server tell them. In this one process, which spares it the way from the device.
func serve(arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	listen := flags.String("listen", "", "unix:/path or host:port")
	certificate := flags.String("cert", "", "PEM file; none: plaintext")
	key := flags.String("key", "", "PEM file")
	target := flags.String("target", "pe1", "name of the device")
	sids := flags.Int("sids", 100_000, "how many")
	interval := flags.Duration("interval", time.Second, "between samples")
	flags.Parse(arguments)

	var options []grpc.ServerOption
	if *certificate != "" {
		tls, err := credentials.NewServerTLSFromFile(*certificate, *key)
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(tls))
	}
	listener, err := listener(*listen)
	if err != nil {
		return err
	}
	store := cache.New([]string{*target})
	service, err := subscribe.NewServer(store)
	if err != nil {
		return err
	}
	store.SetClient(service.Update)
	server := grpc.NewServer(options...)
	pb.RegisterGNMIServer(server, service)
	go server.Serve(listener)

	elements := make([][]*pb.PathElem, *sids)
	for n := range elements {
		elements[n] = sid(n + 1)
	}
	into := store.GetTarget(*target)
	for round := uint64(1); ; round++ {
		due := time.Now().Add(*interval)
		for n := range elements {
			if err := into.GnmiUpdate(notification(*target, elements[n], round+uint64(n))); err != nil {
				return err
			}
		}
		if round == 1 {
			into.Sync()
			fmt.Println("READY")
		}
		time.Sleep(time.Until(due))
	}
}

func listener(address string) (net.Listener, error) {
	if path, found := strings.CutPrefix(address, "unix:"); found {
		return net.Listen("unix", path)
	}
	return net.Listen("tcp", address)
}

// sid is the path of the counters of one, as bench/sids.py numbers them.
func sid(number int) []*pb.PathElem {
	prefix := fmt.Sprintf("fcbb:0:%x:%x::/64", 0x100+number>>16, number&0xffff)
	return []*pb.PathElem{
		{Name: "srv6"}, {Name: "local-sids"},
		{Name: "sid", Key: map[string]string{"prefix": prefix}},
		{Name: "state"}, {Name: "counters"},
	}
}

func notification(target string, above []*pb.PathElem, value uint64) *pb.Notification {
	updates := make([]*pb.Update, len(counters))
	for n, name := range counters {
		elements := make([]*pb.PathElem, 0, len(above)+1)
		elements = append(append(elements, above...), &pb.PathElem{Name: name})
		updates[n] = &pb.Update{
			Path: &pb.Path{Elem: elements},
			Val:  &pb.TypedValue{Value: &pb.TypedValue_UintVal{UintVal: value << (8 * n)}},
		}
	}
	return &pb.Notification{
		Timestamp: time.Now().UnixNano(), Prefix: &pb.Path{Target: target}, Update: updates,
	}
}
