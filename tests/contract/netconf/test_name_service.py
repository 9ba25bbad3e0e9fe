"""A directory of users that does not answer holds up nobody but users that are not known yet."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ncclient.operations.rpc import RPCError

from lab.waiting import wait_until
from tests.contract.netconf.client import Client, rejected
from tests.contract.netconf.conftest import PRODUCT, Server
from tests.contract.netconf.data import ROUTER
from tests.contract.netconf.test_access import USER

NEW = "games"
READ = "<nc:get-config><nc:source><nc:running/></nc:source></nc:get-config>"
# Questions for groups wait as long as the file is there.
_HANGING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <grp.h>
#include <unistd.h>
int getgrouplist(const char *user, gid_t group, gid_t *groups, int *count) {
    int (*next)(const char *, gid_t, gid_t *, int *) = dlsym(RTLD_NEXT, "getgrouplist");
    while (!access(HANGS, F_OK)) {
        usleep(10000);
    }
    return next(user, group, groups, count);
}
"""


@pytest.fixture(scope="module")
def hangs(place: Path) -> Path:
    """While this file is there the name service hangs."""
    return place / "hangs"


@pytest.fixture(scope="module")
def server(place: Path, hangs: Path) -> Iterator[Server]:
    place.chmod(0o711)  # for users that are not root
    source, library = place / "hanging.c", place / "hanging.so"
    source.write_text(_HANGING.replace("HANGS", f'"{hangs}"'))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    with pytest.MonkeyPatch.context() as only:
        only.setenv("LD_PRELOAD", str(library))
        # The sanitizers would have to come first.
        server = Server(place, PRODUCT)
    yield server
    hangs.unlink(missing_ok=True)
    server.stop()


def seconds(client: Client) -> float:
    begin = time.monotonic()
    client.rpc(READ)
    return time.monotonic() - begin


def is_answered(client: Client) -> bool:
    try:
        client.rpc(READ)
    except RPCError:
        return False
    return True


def test_it_holds_up_nobody_who_is_known(server: Server, client: Client, hangs: Path) -> None:
    client.edit(ROUTER)
    known, new = (Client(server.socket, user=user) for user in (USER, NEW))
    known.rpc(READ)
    hangs.touch()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(
            rejected,
            lambda: new.rpc(READ),
            "operation-failed",
            f"user {NEW}: groups: no answer within 3 s; try again",
        )
        while not waits.done():
            assert seconds(client) < 2
            assert seconds(known) < 2
        waits.result()
    hangs.unlink()
    # The lookup that hung may be given up once more before it notices.
    wait_until(lambda: is_answered(new), "an answer to the new user", 20)
    known.rpc(READ)
    for each in (new, known):
        each.close()
