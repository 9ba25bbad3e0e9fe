"""What FRR 10.3 can't carry, found before it silently does something else."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Network

from srv6mgrd.frr.render import carried_locators, export_locator, locator_of
from srv6mgrd.model import names
from srv6mgrd.model.bgp import Neighbor, VrfBgp
from srv6mgrd.model.desired import Desired, Locator
from srv6mgrd.model.paths import bgp_path, ospf_path
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.routing_policy import CommunityOption

# A command that does not fit the daemon's buffer loses its session (VTY_BUFSIZ 4096, read in
# pieces of 512).
LONGEST_LINE = 3500


def limits(desired: Desired) -> list[Rejection]:
    """Why FRR could not carry out what is declared; empty when it can."""
    found = []
    chosen = export_locator(desired)
    if desired.bgp is not None and desired.bgp.as_number == 0:
        found.append(
            _rejection(
                "BGP",
                "AS number 0 is reserved",
                "choose another as-number",
                "/srv6mgr-srv6:srv6/srv6mgr-bgp:bgp",
            )
        )
    if desired.bgp is not None:
        found += _descriptions(desired.bgp.neighbors, bgp_path(None))
    for name in sorted(desired.vrfs):
        vpn = desired.vrfs[name].bgp
        if vpn is not None:
            found += _descriptions(vpn.neighbors, bgp_path(name))
        for sid in vpn.export_sids if vpn is not None else ():
            locator = locator_of(desired, sid)
            if vpn is not None and locator is not None and chosen is not None:
                found += _export(name, vpn, sid, locator, chosen)
    found += _policies_of_ospf(desired)
    for known in carried_locators(desired):
        found += _locator(known)
    return found


def _descriptions(neighbors: Iterable[Neighbor], path: str) -> list[Rejection]:
    # handle_pipe_action (lib/vty.c) looks for it in every command.
    return [
        _rejection(
            names.bgp_neighbor(neighbor.address),
            "FRR takes a | between blanks in its description for a filter",
            "write it without the blanks",
            f"{path}/{neighbor.step}/description",
        )
        for neighbor in neighbors
        if " |" in (neighbor.description or "")
    ]


def _policies_of_ospf(desired: Desired) -> list[Rejection]:
    """ospfd and ospf6d know fewer matches and actions than bgpd."""
    found = []
    for ospf in (*desired.ospf.values(), *desired.ospfv3.values()):
        for name in sorted(ospf.policies):
            policy = desired.routing_policy.policies.get(name)
            for statement in policy.statements if policy is not None else ():
                conditions, actions = statement.conditions, statement.actions
                of_bgp = (
                    conditions.community_set,
                    conditions.as_path_set,
                    actions.local_pref,
                    actions.prepend,
                    actions.communities,
                    actions.community_option is CommunityOption.REPLACE,
                )
                if any(of_bgp):
                    found.append(
                        _rejection(
                            names.ospf(ospf.version, ospf.vrf),
                            f"statement {statement.sequence} of its policy {name} is about"
                            " communities, AS paths or local preference, which OSPF has not",
                            "name a policy of prefixes, tags and metrics",
                            ospf_path(ospf.vrf, ospf.version),
                        )
                    )
    return found


def _export(
    vrf: str, vpn: VrfBgp, sid: IPv6Network, locator: Locator, chosen: Locator
) -> list[Rejection]:
    where = f"{names.vrf(vrf)}, export SID {sid}"
    leaf = {vpn.export_sid_ipv4: "export-sid-ipv4", vpn.export_sid_ipv6: "export-sid-ipv6"}
    path = f"{bgp_path(vrf)}/{leaf.get(sid, 'export-sid')}"
    if locator != chosen:
        # bgpd composes every SID from the locator of its default instance
        # (ensure_vrf_tovpn_sid_per_vrf); one in the VRF's own instance is ignored.
        cause = f"it is of locator {locator.name}, but bgpd exports from {chosen.name} alone"
        return [_rejection(where, cause, f"take an export SID of locator {chosen.name}", path)]
    families = (vpn.of_family(4), vpn.of_family(6))
    lists = [rts for own in families for rts in (own.import_rts, own.export_rts)]
    if any(len(" ".join(rts)) > LONGEST_LINE for rts in lists):
        return [_rejection(where, "too many route targets for one FRR command", "use fewer", path)]
    return []


def _locator(locator: Locator) -> list[Rejection]:
    where = names.locator(locator.name)
    path = f"/srv6mgr-srv6:srv6/locators/locator[name='{locator.name}']"
    if locator.block_length + locator.node_length != locator.prefix.prefixlen:
        cause = "block-length plus node-length is not the length of its prefix"
        return [_rejection(where, cause, "make them add up, as FRR asks", path)]
    if not 16 <= locator.block_length <= 64 or not 16 <= locator.node_length <= 64:
        cause = "FRR takes block-length and node-length of 16 to 64 bits"
        return [_rejection(where, cause, "choose lengths in that range", path)]
    if not 1 <= locator.function_length <= 20:
        cause = f"FRR exports functions of 1 to 20 bits, not {locator.function_length}"
        return [_rejection(where, cause, "choose a function-length in that range", path)]
    if locator.argument_length:
        cause = "FRR can't set the argument length"
        return [_rejection(where, cause, "leave argument-length at 0 for exported SIDs", path)]
    return []


def _rejection(where: str, cause: str, remedy: str, path: str) -> Rejection:
    return Rejection(where, cause, remedy, "frr-unsupported", path)
