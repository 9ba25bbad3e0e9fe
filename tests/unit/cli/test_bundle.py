"""A support bundle has all that is asked for, and no secret of any source."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from srv6mgrd.cli.bundle import archive, sources
from srv6mgrd.cli.bundle.scrub import Scrubber, frr_secrets, gathered, secrets_in
from srv6mgrd.cli.bundle.sources import Machine, Source
from srv6mgrd.settings import Settings

PLANTED = "Planted-s3cret"
PEM = f"-----BEGIN PRIVATE KEY-----\nMII{PLANTED}\n-----END PRIVATE KEY-----\n"


class Planted:
    """A machine where each command and each file repeats the secret."""

    def __init__(self, text: str) -> None:
        self.text = text

    def run(self, argv: Sequence[str]) -> str:
        return f"{' '.join(argv)}\n{self.text}\n"

    def file(self, path: Path) -> str:
        return f"{path}\n{self.text}\n"

    def files(self, pattern: str) -> list[Path]:
        return [Path(pattern.replace("*", "some"))]


ALL = sources.of_system(Planted(""), Settings())


def packed(tmp_path: Path, found: list[Source], scrubber: Scrubber) -> dict[str, str]:
    path = tmp_path / "bundle.tar.gz"
    archive.write(path, found, scrubber, "About.\n", 0)
    return dict(contents(path))


def contents(path: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(path) as found:
        for entry in found:
            file = found.extractfile(entry)
            assert file is not None
            yield entry.name.partition("/")[2], file.read().decode()


def test_it_has_state_logs_kernel_frr_versions_and_settings() -> None:
    names = {source.name for source in ALL}
    assert {name.partition("/")[0] for name in names} == {
        "files", "frr", "kernel", "logs", "system", "versions",
    }  # fmt: skip
    for one in ("logs/srv6mgrd.txt", "frr/running-config.txt", "files/etc/srv6mgr/some.toml"):
        assert one in names


@pytest.mark.parametrize("name", [source.name for source in ALL])
@pytest.mark.parametrize("given", [f"it said {PLANTED}.", json.dumps({"x": PLANTED}), PEM])
def test_a_known_secret_is_removed_from_every_source(tmp_path: Path, name: str, given: str) -> None:
    found = [s for s in sources.of_system(Planted(given), Settings()) if s.name == name]
    content = packed(tmp_path, found, Scrubber(frozenset({PLANTED})))[name]
    assert content.strip()
    assert PLANTED not in content


# In the forms in which each source writes a secret that is not on a list.
UNKNOWN = {
    "BGP": f" neighbor 2001:db8::1 password {PLANTED}",
    "IS-IS": f" isis password md5 {PLANTED}",
    "areas of IS-IS": f" area-password clear {PLANTED}",
    "OSPF": f" ip ospf message-digest-key 1 md5 {PLANTED}",
    "OSPF in the clear": f" ip ospf authentication-key {PLANTED}",
    "key chains": f"  key-string {PLANTED}",
    "vty": f"enable password {PLANTED}",
    "FRR's log": f"BGP: [X] vty error: neighbor 10.0.0.1 password {PLANTED}",
    "TOML": f'redis_password = "{PLANTED}"',
    "a user's hash": f'alice = "scrypt$16384$8$1${PLANTED}"',
    "INI": f"password={PLANTED}",
    "JSON": json.dumps({"srv6mgr-bgp:password": PLANTED, "a": [{"auth-token": PLANTED}]}),
    "a key": PEM,
    "a key that is cut": PEM.partition("-----END")[0],
    "a URL": f"redis://user:{PLANTED}@localhost:6379/0",
    "a command line": f"redis-cli --user x --password={PLANTED}",
}


@pytest.mark.parametrize("form", UNKNOWN)
@pytest.mark.parametrize("around", ["", "Nov 23 14:00:00 pe1 bgpd[1]: "])
def test_a_secret_that_nobody_knows_is_removed_by_its_form(form: str, around: str) -> None:
    found = Scrubber().text(f"before\n{around}{UNKNOWN[form]}\nafter\n")
    assert PLANTED not in found
    assert found.startswith("before\n")
    assert form.startswith("a key") or found.endswith("\nafter\n")


@pytest.mark.parametrize(
    "text",
    [
        'redis_password_file = "/etc/srv6mgr/redis.password"\n',
        " neighbor 2001:db8::1 remote-as 65000\n",
        '{"install-status":"installed","reason":""}',
        "fcbb:0:1:64::/64  encap seg6local action End.DT46 vrftable 100\n",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Scrubber(frozenset({"x1"})).text(text) == text


def test_a_short_secret_is_removed_as_a_word() -> None:
    assert Scrubber(frozenset({"up"})).text("update: up, 'up'") == "update: (secret), '(secret)'"


@pytest.mark.parametrize("secret", ['a"b<c>&d\\e', "tab\there'x", "ünïcode-secret"])
def test_a_secret_is_removed_as_others_write_it(secret: str) -> None:
    scrubber = Scrubber(frozenset({secret}))
    for text in (json.dumps([secret]), repr([secret]), escape(secret)):
        assert "(secret)" in scrubber.text(text)


def test_secrets_are_learnt_from_the_configuration_and_from_frr() -> None:
    tree = {"srv6": {"b:neighbor": [{"address": "x", "password": "one"}, {"b:password": ["two"]}]}}
    running = "router bgp 1\n neighbor x password three\n bgp router-id 1.1.1.1\n"

    def broken() -> list[str]:
        raise OSError("sysrepo is not there")

    found = gathered((broken, lambda: secrets_in(tree, {"password"}), lambda: frr_secrets(running)))
    assert found == {"one", "two", "three"}


def test_what_cannot_be_read_is_named_and_the_rest_is_there(tmp_path: Path) -> None:
    def broken() -> str:
        raise OSError(f"no {PLANTED}")

    found = packed(
        tmp_path,
        [Source("a/broken.txt", broken), Source("a/well.txt", lambda: "well")],
        Scrubber(frozenset({PLANTED})),
    )
    assert found["a/well.txt"] == "well"
    assert "a/broken.txt: no (secret)" in found["README.txt"]
    assert "a/broken.txt" not in found


def test_the_file_is_roots_and_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.gz"
    archive.write(path, [], Scrubber(), "About.\n", 0)
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        archive.write(path, [], Scrubber(), "About.\n", 0)
    assert path.read_bytes() == before
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="exists"):
        archive.write(tmp_path / "link", [], Scrubber(), "About.\n", 0)
    assert not (tmp_path / "elsewhere").exists()


def test_commands_and_files_are_read_as_they_are(tmp_path: Path) -> None:
    machine = Machine()
    assert machine.run(["sh", "-c", "echo out; echo err >&2; exit 3"]) == (
        "out\nerr\n(exit status 3)\n"
    )
    file = tmp_path / "log"
    file.write_bytes(b"x" * (sources.MOST + 5) + b"end")
    assert machine.file(file).endswith("end")
    assert len(machine.file(file)) == sources.MOST
    assert machine.files(f"{tmp_path}/l*") == [file]
