#!/usr/bin/python
"""Declare the configuration of a router."""

from __future__ import annotations

DOCUMENTATION = r"""
module: config
short_description: Configure SRv6 on a router with srv6mgr
description:
  - Declares VRFs, SIDs, locators, BGP and all else of the YANG module C(srv6mgr-srv6). A change is
    one transaction, which srv6mgrd applies whole or rejects whole.
  - In check mode nothing is changed. I(operations) are then those of srv6mgrd's own plan.
  - Passwords and keys are hidden in the output of C(--diff).
version_added: 0.1.0
extends_documentation_fragment: srv6mgr.router.gnmi
options:
  config:
    description:
      - The configuration as RFC 7951 JSON, the content of C(srv6mgr-srv6:srv6). Write addresses
        and prefixes in canonical form (RFC 5952).
    type: dict
    required: true
  state:
    description:
      - C(merged) adds to the configuration and changes leaves. C(replaced) makes it the whole
        configuration of srv6mgr, and removes all else.
    type: str
    choices: [merged, replaced]
    default: merged
attributes:
  check_mode:
    support: full
    description: Shows srv6mgrd's plan and changes nothing.
  diff_mode:
    support: full
    description: Shows configurations and operations.
author: srv6mgr maintainers
"""

EXAMPLES = r"""
- name: VRF red
  srv6mgr.router.config:
    host: pe1.example.net
    username: alice
    password: "{{ vault_password }}"
    ca: router-ca.pem
    config:
      vrfs:
        vrf:
          - name: red
            table-id: 10
            interface: [to-ce-red]

- name: The file is the whole configuration
  srv6mgr.router.config:
    host: unix:///run/srv6mgr/gnmi.sock
    state: replaced
    config: "{{ (lookup('file', 'pe1.json') | from_json)['srv6mgr-srv6:srv6'] }}"
"""

RETURN = r"""
operations:
  description: What the change does to the kernel and to FRR, in order, as srv6mgrd plans it.
  returned: in check mode and with --diff
  type: list
  elements: dict
  sample: [{verb: create, object: VRF red, command: ip link add red type vrf table 10}]
"""

import json

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible_collections.srv6mgr.router.plugins.module_utils import gnmi
from ansible_collections.srv6mgr.router.plugins.module_utils.tree import masked, plain, updated


def main():
    arguments = {
        "config": {"type": "dict", "required": True},
        "state": {"type": "str", "choices": ["merged", "replaced"], "default": "merged"},
    }
    module = AnsibleModule({**gnmi.ARGUMENTS, **arguments}, supports_check_mode=True)
    if gnmi.IMPORT_ERROR:
        module.fail_json(missing_required_lib("grpcio, gnmi-pb"), exception=gnmi.IMPORT_ERROR)
    try:
        with gnmi.Router(module.params) as router:
            result = changed(module, router)
    except gnmi.RouterError as error:
        module.fail_json(msg=error.args[0])
    module.exit_json(**result)


def changed(module, router):
    """Have the router's configuration as declared, and say what changed."""
    given = module.params["config"]
    replace = module.params["state"] == "replaced"
    before = running(router)
    after = plain(given) if replace else updated(before, given)
    if before == after:
        return {"changed": False}
    result = {"changed": True}
    if module.check_mode or module._diff:
        result["operations"] = router.plan(after)
    if not module.check_mode:
        router.set(given, replace=replace)
        # The router's own form of values decides: 1::0/64 is 1::/64.
        after = running(router)
        result["changed"] = before != after
    if module._diff:
        result["diff"] = [
            {"before": text(before), "after": text(after)},
            {"prepared": "".join(f"{one['command']}\n" for one in result["operations"])},
        ]
    return result


def running(router):
    """The running configuration, without defaults."""
    return plain(router.get(f"/{gnmi.ROOT}", "CONFIG") or {})


def text(tree):
    """As ``--diff`` shows it."""
    return json.dumps(masked(tree), indent=2) + "\n"


if __name__ == "__main__":
    main()
