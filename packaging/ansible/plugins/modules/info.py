#!/usr/bin/python
"""Read configuration and state of a router."""

from __future__ import annotations

DOCUMENTATION = r"""
module: info
short_description: Read configuration and state of a router with srv6mgr
description:
  - Returns what gNMI Get returns for each path, as RFC 7951 JSON.
version_added: 0.1.0
extends_documentation_fragment: srv6mgr.router.gnmi
options:
  paths:
    description: Paths in the YANG modules of srv6mgr.
    type: list
    elements: str
    default: ["/srv6mgr-srv6:srv6"]
  type:
    description: Which nodes.
    type: str
    choices: [all, config, state]
    default: all
attributes:
  check_mode:
    support: full
    description: Changes nothing.
  diff_mode:
    support: none
    description: Changes nothing.
author: srv6mgr maintainers
"""

EXAMPLES = r"""
- name: Packets that a SID received
  srv6mgr.router.info:
    host: unix:///run/srv6mgr/gnmi.sock
    paths: ["/srv6mgr-srv6:srv6/local-sids/sid[prefix=fcbb:0:1:64::/64]"]
  register: red
"""

RETURN = r"""
values:
  description: The value of each path; null where there is nothing.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible_collections.srv6mgr.router.plugins.module_utils import gnmi


def main():
    arguments = {
        "paths": {"type": "list", "elements": "str", "default": [f"/{gnmi.ROOT}"]},
        "type": {"type": "str", "choices": ["all", "config", "state"], "default": "all"},
    }
    module = AnsibleModule({**gnmi.ARGUMENTS, **arguments}, supports_check_mode=True)
    if gnmi.IMPORT_ERROR:
        module.fail_json(missing_required_lib("grpcio, gnmi-pb"), exception=gnmi.IMPORT_ERROR)
    kind = module.params["type"].upper()
    try:
        with gnmi.Router(module.params) as router:
            values = {path: router.get(path, kind) for path in module.params["paths"]}
    except gnmi.RouterError as error:
        module.fail_json(msg=error.args[0])
    module.exit_json(changed=False, values=values)


if __name__ == "__main__":
    main()
