// A BGP speaker made of GoBGP that announces given VPN routes with SRv6 SIDs, and writes
// what it has been told, a JSON object a line.
//
//	gobgp_peer LOCAL PEER ROUTER-ID AS PREFIX,RD,TARGET,NEXT-HOP,SID,LABEL,STRUCTURE ...
//
// STRUCTURE is that of RFC 9252 section 3.2.1, six numbers with dots between them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/osrg/gobgp/v4/api"
	"github.com/osrg/gobgp/v4/pkg/apiutil"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
	"github.com/osrg/gobgp/v4/pkg/server"
)

type told struct {
	Withdrawn bool     `json:"withdrawn"`
	RD        string   `json:"rd"`
	Prefix    string   `json:"prefix"`
	NextHop   string   `json:"next-hop"`
	Targets   []string `json:"targets"`
	Label     uint32   `json:"label"`
	SID       string   `json:"sid"`
	Behavior  uint16   `json:"behavior"`
	Structure []int    `json:"structure"`
}

func main() {
	if len(os.Args) < 5 {
		fail(fmt.Errorf("usage: gobgp_peer LOCAL PEER ROUTER-ID AS ROUTE..."))
	}
	asn, err := strconv.ParseUint(os.Args[4], 10, 32)
	check(err)
	s := server.NewBgpServer()
	go s.Serve()
	ctx := context.Background()
	check(s.StartBgp(ctx, &api.StartBgpRequest{Global: &api.Global{
		Asn: uint32(asn), RouterId: os.Args[3], ListenPort: 179,
	}}))
	out := json.NewEncoder(os.Stdout)
	check(s.WatchEvent(ctx, server.WatchEventMessageCallbacks{
		OnPathUpdate: func(paths []*apiutil.Path, _ time.Time) {
			for _, path := range paths {
				if found, ok := decode(path); ok {
					check(out.Encode(found))
				}
			}
		},
	}, server.WatchUpdate(true, "", "")))
	for _, words := range os.Args[5:] {
		path, err := announcement(words)
		check(err)
		_, err = s.AddPath(apiutil.AddPathRequest{Paths: []*apiutil.Path{path}})
		check(err)
	}
	check(s.AddPeer(ctx, &api.AddPeerRequest{Peer: peer(os.Args[1], os.Args[2], uint32(asn))}))
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
	check(s.StopBgp(ctx, &api.StopBgpRequest{}))
}

func peer(local, remote string, asn uint32) *api.Peer {
	family := func(afi api.Family_Afi) *api.AfiSafi {
		return &api.AfiSafi{Config: &api.AfiSafiConfig{
			Family:  &api.Family{Afi: afi, Safi: api.Family_SAFI_MPLS_VPN},
			Enabled: true,
		}}
	}
	return &api.Peer{
		Conf:      &api.PeerConf{NeighborAddress: remote, PeerAsn: asn},
		Transport: &api.Transport{LocalAddress: local},
		Timers:    &api.Timers{Config: &api.TimersConfig{ConnectRetry: 1, IdleHoldTimeAfterReset: 1}},
		AfiSafis:  []*api.AfiSafi{family(api.Family_AFI_IP), family(api.Family_AFI_IP6)},
	}
}

func announcement(words string) (*apiutil.Path, error) {
	f := strings.Split(words, ",")
	if len(f) != 7 {
		return nil, fmt.Errorf("%q: want PREFIX,RD,TARGET,NEXT-HOP,SID,LABEL,STRUCTURE", words)
	}
	prefix, err := netip.ParsePrefix(f[0])
	if err != nil {
		return nil, err
	}
	rd, err := bgp.ParseRouteDistinguisher(f[1])
	if err != nil {
		return nil, err
	}
	target, err := bgp.ParseRouteTarget(f[2])
	if err != nil {
		return nil, err
	}
	nextHop, err := netip.ParseAddr(f[3])
	if err != nil {
		return nil, err
	}
	sid, err := netip.ParseAddr(f[4])
	if err != nil {
		return nil, err
	}
	label, err := strconv.ParseUint(f[5], 10, 20)
	if err != nil {
		return nil, err
	}
	var n [6]uint8
	for i, word := range strings.Split(f[6], ".") {
		value, err := strconv.ParseUint(word, 10, 8)
		if err != nil || i >= len(n) {
			return nil, fmt.Errorf("%q is no SID structure", f[6])
		}
		n[i] = uint8(value)
	}
	nlri, err := bgp.NewLabeledVPNIPAddrPrefix(prefix, *bgp.NewMPLSLabelStack(uint32(label)), rd)
	if err != nil {
		return nil, err
	}
	family := bgp.RF_IPv4_VPN
	if prefix.Addr().Is6() {
		family = bgp.RF_IPv6_VPN
	}
	reach, err := bgp.NewPathAttributeMpReachNLRI(family, []bgp.PathNLRI{{NLRI: nlri}}, nextHop)
	if err != nil {
		return nil, err
	}
	structure := bgp.NewSRv6SIDStructureSubSubTLV(n[0], n[1], n[2], n[3], n[4], n[5])
	service := bgp.NewSRv6ServiceTLV(
		bgp.TLVTypeSRv6L3Service, bgp.NewSRv6InformationSubTLV(sid, bgp.END_DT46, structure))
	return &apiutil.Path{Family: family, Nlri: nlri, Attrs: []bgp.PathAttributeInterface{
		bgp.NewPathAttributeOrigin(0),
		reach,
		bgp.NewPathAttributeExtendedCommunities([]bgp.ExtendedCommunityInterface{target}),
		bgp.NewPathAttributePrefixSID(service),
	}}, nil
}

func decode(path *apiutil.Path) (told, bool) {
	nlri, ok := path.Nlri.(*bgp.LabeledVPNIPAddrPrefix)
	if !ok || path.PeerAddress.IsUnspecified() || !path.PeerAddress.IsValid() {
		return told{}, false // one of our own
	}
	found := told{Withdrawn: path.Withdrawal, RD: nlri.RD.String(), Prefix: nlri.Prefix.String()}
	if len(nlri.Labels.Labels) > 0 {
		found.Label = nlri.Labels.Labels[0]
	}
	for _, attribute := range path.Attrs {
		switch a := attribute.(type) {
		case *bgp.PathAttributeMpReachNLRI:
			found.NextHop = a.Nexthop.String()
		case *bgp.PathAttributeExtendedCommunities:
			for _, community := range a.Value {
				found.Targets = append(found.Targets, community.String())
			}
		case *bgp.PathAttributePrefixSID:
			found.read(a)
		}
	}
	return found, true
}

func (t *told) read(attribute *bgp.PathAttributePrefixSID) {
	for _, tlv := range attribute.TLVs {
		service, ok := tlv.(*bgp.SRv6ServiceTLV)
		if !ok {
			continue
		}
		for _, sub := range service.SubTLVs {
			information, ok := sub.(*bgp.SRv6InformationSubTLV)
			if !ok {
				continue
			}
			sid, _ := netip.AddrFromSlice(information.SID)
			t.SID, t.Behavior = sid.String(), information.EndpointBehavior
			for _, inner := range information.SubSubTLVs {
				if s, ok := inner.(*bgp.SRv6SIDStructureSubSubTLV); ok {
					t.Structure = []int{
						int(s.LocatorBlockLength), int(s.LocatorNodeLength), int(s.FunctionLength),
						int(s.ArgumentLength), int(s.TranspositionLength), int(s.TranspositionOffset),
					}
				}
			}
		}
	}
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "gobgp_peer:", err)
	os.Exit(1)
}
