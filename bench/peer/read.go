package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/ygot/ygot"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// told is what one message holds; nothing else of it is decoded.
type told struct {
	leaves, bytes, timestamp int64
	sync                     bool
}

// codec writes protobufs, and reads no more of them than how many leaves there are.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }

func (codec) Unmarshal(data []byte, v any) error {
	t := v.(*told)
	*t = told{bytes: int64(len(data))}
	return fields(data, func(number, value uint64, body []byte) error {
		switch number {
		case 1: // SubscribeResponse.update
			return fields(body, func(number, value uint64, _ []byte) error {
				switch number {
				case 1: // Notification.timestamp
					t.timestamp = int64(value)
				case 4: // Notification.update
					t.leaves++
				}
				return nil
			})
		case 3: // SubscribeResponse.sync_response
			t.sync = value != 0
		}
		return nil
	})
}

// fields calls do for each field of a message: its number, and its value or its content.
func fields(data []byte, do func(number, value uint64, body []byte) error) error {
	for len(data) > 0 {
		tag, n := varint(data)
		data = data[n:]
		value, n := varint(data)
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		data = data[n:]
		var body []byte
		if tag&7 == 2 {
			if value > uint64(len(data)) {
				return io.ErrUnexpectedEOF
			}
			body, data = data[:value], data[value:]
		} else if tag&7 != 0 {
			return fmt.Errorf("wire type %d", tag&7)
		}
		if err := do(tag>>3, value, body); err != nil {
			return err
		}
	}
	return nil
}

func varint(data []byte) (value uint64, length int) {
	for n := 0; n < len(data) && n < 10; n++ {
		value |= uint64(data[n]&0x7f) << (7 * n)
		if data[n] < 0x80 {
			return value, n + 1
		}
	}
	return 0, 0
}

// delay is how long after its timestamp a message was here.
type delay struct {
	nanoseconds, leaves int64
}

// reader is one subscriber.
type reader struct {
	leaves, bytes, messages int64
	delays                  []delay
	first                   time.Time
}

// read subscribes, counts what comes, and prints it as JSON.
func read(arguments []string) error {
	flags := flag.NewFlagSet("read", flag.ExitOnError)
	address := flags.String("address", "", "unix:/path or host:port")
	ca := flags.String("ca", "", "PEM file of who signed the server's certificate; none: plaintext")
	name := flags.String("name", "localhost", "name in the server's certificate")
	target := flags.String("target", "pe1", "name of the device")
	paths := flags.String("paths", "", "comma separated")
	mode := flags.String("mode", "SAMPLE", "SAMPLE, ON_CHANGE or TARGET_DEFINED")
	interval := flags.Duration("interval", time.Second, "of SAMPLE")
	subscribers := flags.Int("subscribers", 1, "that read, each with a connection of its own")
	stuck := flags.Int("stuck", 0, "that never read, more than these")
	// Samples come whole intervals after the sync: what is counted begins and ends in between.
	warmUp := flags.Duration("warm-up", 2500*time.Millisecond, "not counted, from the last sync on")
	seconds := flags.Duration("for", 10*time.Second, "counted")
	flags.Parse(arguments)

	security := insecure.NewCredentials()
	if *ca != "" {
		var err error
		if security, err = credentials.NewClientTLSFromFile(*ca, *name); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	open := func() (grpc.ClientStream, error) {
		asked, err := request(*target, *paths, *mode, *interval)
		if err != nil {
			return nil, err
		}
		options := []grpc.DialOption{grpc.WithTransportCredentials(security)}
		connection, err := grpc.NewClient(*address, options...)
		if err != nil {
			return nil, err
		}
		stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
			"/gnmi.gNMI/Subscribe", grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(64<<20))
		if err != nil {
			return nil, err
		}
		return stream, stream.SendMsg(asked)
	}
	for range *stuck {
		if _, err := open(); err != nil {
			return err
		}
	}
	readers := make([]reader, *subscribers)
	streams := make([]grpc.ClientStream, *subscribers)
	var synced, done sync.WaitGroup
	var mutex sync.Mutex
	var counting time.Time
	failed := make(chan error, *subscribers)
	for n := range readers {
		stream, err := open()
		if err != nil {
			return err
		}
		streams[n] = stream
		synced.Add(1)
		done.Add(1)
		go func(r *reader) {
			defer done.Done()
			waiting := true
			var begin time.Time
			for {
				var t told
				if err := stream.RecvMsg(&t); err != nil {
					if ctx.Err() == nil && !errors.Is(err, io.EOF) {
						failed <- err
					}
					return
				}
				now := time.Now()
				if t.sync && waiting {
					waiting = false
					r.first = now
					synced.Done()
				}
				if begin.IsZero() {
					mutex.Lock()
					begin = counting
					mutex.Unlock()
				}
				if begin.IsZero() || now.Before(begin) {
					continue
				}
				r.leaves += t.leaves
				r.bytes += t.bytes
				r.messages++
				if t.leaves > 0 {
					r.delays = append(r.delays, delay{now.UnixNano() - t.timestamp, t.leaves})
				}
			}
		}(&readers[n])
	}
	all := make(chan struct{})
	go func() { synced.Wait(); close(all) }()
	select {
	case err := <-failed:
		return err
	case <-all:
	}
	// Whoever takes the samples may keep step with the first subscriber.
	fmt.Println("SYNC", readers[0].first.UnixNano())
	time.Sleep(*warmUp)
	mutex.Lock()
	counting = time.Now()
	mutex.Unlock()
	fmt.Println("BEGIN")
	begin := time.Now()
	select {
	case err := <-failed:
		return err
	case <-time.After(*seconds):
	}
	took := time.Since(begin)
	fmt.Println("END")
	cancel()
	done.Wait()
	return json.NewEncoder(os.Stdout).Encode(summary(readers, took))
}

func request(target, paths, mode string, interval time.Duration) (*pb.SubscribeRequest, error) {
	list := &pb.SubscriptionList{
		Prefix: &pb.Path{Target: target}, Encoding: pb.Encoding_PROTO, Mode: pb.SubscriptionList_STREAM,
	}
	for _, text := range strings.Split(paths, ",") {
		elements, err := ygot.StringToStructuredPath(text)
		if err != nil {
			return nil, err
		}
		item := &pb.Subscription{Path: elements, Mode: pb.SubscriptionMode(pb.SubscriptionMode_value[mode])}
		if mode == "SAMPLE" {
			item.SampleInterval = uint64(interval)
		}
		list.Subscription = append(list.Subscription, item)
	}
	return &pb.SubscribeRequest{Request: &pb.SubscribeRequest_Subscribe{Subscribe: list}}, nil
}

// summary is of all together, and of who got the least and the most.
func summary(readers []reader, took time.Duration) map[string]float64 {
	var leaves, bytes, messages int64
	least, most := readers[0].leaves, readers[0].leaves
	var delays []delay
	for _, r := range readers {
		leaves, bytes, messages = leaves+r.leaves, bytes+r.bytes, messages+r.messages
		least, most = min(least, r.leaves), max(most, r.leaves)
		delays = append(delays, r.delays...)
	}
	return map[string]float64{
		"seconds": took.Seconds(), "leaves": float64(leaves), "bytes": float64(bytes),
		"messages": float64(messages), "least": float64(least), "most": float64(most),
		"p50": percentile(delays, leaves, 50), "p99": percentile(delays, leaves, 99),
	}
}

// percentile is in seconds, each leaf counted.
func percentile(delays []delay, leaves int64, percent int64) float64 {
	sort.Slice(delays, func(i, j int) bool { return delays[i].nanoseconds < delays[j].nanoseconds })
	var passed int64
	for _, d := range delays {
		if passed += d.leaves; passed*100 >= leaves*percent {
			return float64(d.nanoseconds) / 1e9
		}
	}
	return 0
}
