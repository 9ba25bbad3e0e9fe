"""Configuration that the tests begin with, as XML; prefixes are those of ``client.NS``."""

SID = "fcbb:0:1:64::/64"
OTHER = "fcbb:0:1:65::/64"

OPERATION = "nc:operation"


def srv6(inside: str) -> str:
    return f"<s:srv6>{inside}</s:srv6>"


def locator(name: str = "main", prefix: str = "fcbb:0:1::/48", operation: str = "") -> str:
    inside = f"<s:name>{name}</s:name>" + (f"<s:prefix>{prefix}</s:prefix>" if prefix else "")
    return f"<s:locators><s:locator{_attribute(operation)}>{inside}</s:locator></s:locators>"


def vrf(name: str = "red", table: str = "100", operation: str = "", more: str = "") -> str:
    inside = f"<s:name>{name}</s:name>" + (f"<s:table-id>{table}</s:table-id>" if table else "")
    return f"<s:vrfs><s:vrf{_attribute(operation)}>{inside}{more}</s:vrf></s:vrfs>"


def sid(prefix: str = SID, behavior: str = "End", operation: str = "", more: str = "") -> str:
    inside = f"<s:prefix>{prefix}</s:prefix><s:locator>main</s:locator>"
    inside += f"<s:behavior>s:{behavior}</s:behavior>{more}"
    return f"<s:local-sids><s:sid{_attribute(operation)}>{inside}</s:sid></s:local-sids>"


def _attribute(operation: str) -> str:
    return f' {OPERATION}="{operation}"' if operation else ""


ROUTER = srv6(
    locator()
    + vrf(more="<s:interface>eth1</s:interface>")
    + sid(behavior="End.DT46", more="<s:vrf>red</s:vrf>")
)
