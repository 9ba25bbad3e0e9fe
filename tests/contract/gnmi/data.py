"""Configuration that the tests begin with."""

from typing import Any

from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus

SID = "fcbb:0:1:64::/64"
ENTRY = f"/srv6/local-sids/sid[prefix={SID}]"
RED = "/srv6/vrfs/vrf[name=red]"
TABLE = f"{RED}/table-id"
SID_REF, RED_REF = ObjectRef(Kind.SID, SID), ObjectRef(Kind.VRF, "red")
INSTALLED = ObjectStatus(InstallStatus.INSTALLED, since=1_000_000_000)

SRV6: dict[str, Any] = {
    "locators": {"locator": [{"name": "main", "prefix": "fcbb:0:1::/48"}]},
    "vrfs": {"vrf": [{"name": "red", "table-id": 100, "interface": ["eth1"]}]},
    "local-sids": {
        "sid": [{"prefix": SID, "locator": "main", "behavior": "End.DT46", "vrf": "red"}]
    },
}
