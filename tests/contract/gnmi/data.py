"""Configuration that the tests begin with."""

from typing import Any

SID = "fcbb:0:1:64::/64"

SRV6: dict[str, Any] = {
    "locators": {"locator": [{"name": "main", "prefix": "fcbb:0:1::/48"}]},
    "vrfs": {"vrf": [{"name": "red", "table-id": 100, "interface": ["eth1"]}]},
    "local-sids": {
        "sid": [{"prefix": SID, "locator": "main", "behavior": "End.DT46", "vrf": "red"}]
    },
}
