"""Provider edges of one VRF in a full mesh: what each declares."""

from __future__ import annotations

from typing import Any

from robot.api.deco import library

from tests.robot.library.gnmi import SRV6, session

# Routes of a customer through an edge that is there in case the other one ends.
BACKUP = {
    "policy-definitions": {
        "policy-definition": [
            {
                "name": "backup",
                "statement": [{"sequence": 10, "actions": {"set-local-pref": 50}}],
            }
        ]
    }
}


def edge(number: int, others: list[int], customer: dict[str, Any] | None) -> dict[str, Any]:
    """Edge ``number``: VRF red on ``to-ce``, sessions with the others, and with a customer, to
    whose routes it may apply the policy ``backup``."""
    red = {
        "rd": f"65000:{number}10",
        "import-rt": ["65000:10"],
        "export-rt": ["65000:10"],
        "export-function": 0x64,
        "locator": "MAIN",
        "neighbor": [customer] if customer else [],
    }
    peers = [
        {
            "address": f"2001:db8::{other}",
            "remote-as": 65000,
            "update-source": f"2001:db8::{number}",
            "bfd": True,
        }
        for other in others
    ]
    return {
        "encapsulation": {"source-address": f"2001:db8::{number}"},
        "locators": {"locator": [{"name": "MAIN", "prefix": f"fcbb:0:{number}::/48"}]},
        "interfaces": {"interface": [{"name": "to-p", "role": "core"}]},
        "vrfs": {
            "vrf": [
                {
                    "name": "red",
                    "table-id": 10,
                    "interface": ["to-ce"],
                    "srv6mgr-bgp:bgp": red,
                }
            ]
        },
        "srv6mgr-routing-policy:routing-policy": BACKUP,
        "srv6mgr-bgp:bgp": {
            "as-number": 65000,
            "router-id": f"10.0.0.{number}",
            "neighbor": peers,
        },
    }


@library(scope="GLOBAL", auto_keywords=True)
class FullMesh:
    """Edges that are called pe1, pe2 and so on."""

    def configure_edge(
        self, number: int, others: list[int], customer: dict[str, Any] | None = None
    ) -> None:
        """Declare all of an edge over gNMI; ``customer`` is an entry of the list neighbor."""
        session(f"pe{number}").set(
            update=[], replace=[(SRV6, edge(number, others, customer))], delete=[]
        )
