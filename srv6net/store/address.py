"""Where a store is: a file of SQLite, or ``etcd://HOST:PORT,.../PREFIX?SETTINGS``. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from srv6net.transaction.ports import StoreError

SCHEME = "etcd"
PREFIX = "/srv6net"
_SETTINGS = frozenset({"ca", "cert", "key", "server-name", "user", "password-file", "tls"})
_ENDPOINT = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:/@\s]+):[0-9]+")


@dataclass(frozen=True, slots=True)
class EtcdAddress:
    """Members as host:port, and the files of the credentials. Without ``ca`` the authorities of the
    system are trusted."""

    members: tuple[str, ...]
    prefix: str = PREFIX
    is_encrypted: bool = True
    ca: str = ""
    cert: str = ""
    key: str = ""
    server_name: str = ""
    user: str = ""
    password_file: str = ""

    def __str__(self) -> str:
        return f"{SCHEME}://{','.join(self.members)}{self.prefix}"


def is_etcd(text: str) -> bool:
    return text.startswith(f"{SCHEME}:")


def etcd_address(text: str) -> EtcdAddress:
    """Raises StoreError with the part that cannot be read."""
    parts = urlsplit(text)
    members = tuple(parts.netloc.split(","))
    for member in members:
        if not _ENDPOINT.fullmatch(member):
            raise _wrong(text, f"{member or 'nothing'} is no HOST:PORT")
    settings = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := sorted(settings.keys() - _SETTINGS):
        raise _wrong(text, f"there is no setting {unknown[0]}")
    if ("cert" in settings) != ("key" in settings):
        raise _wrong(text, "cert and key belong together")
    if ("user" in settings) != ("password-file" in settings):
        raise _wrong(text, "user and password-file belong together")
    if settings.get("tls", "yes") not in ("yes", "no"):
        raise _wrong(text, "tls is yes or no")
    is_encrypted = settings.get("tls") != "no"
    if not is_encrypted and settings.keys() - {"tls"}:
        raise _wrong(text, "credentials need TLS; remove tls=no")
    return EtcdAddress(
        members,
        parts.path.rstrip("/") or PREFIX,
        is_encrypted,
        settings.get("ca", ""),
        settings.get("cert", ""),
        settings.get("key", ""),
        settings.get("server-name", ""),
        settings.get("user", ""),
        settings.get("password-file", ""),
    )


def _wrong(text: str, cause: str) -> StoreError:
    return StoreError(
        f"store {text}: {cause}; write it like etcd://10.0.0.1:2379,10.0.0.2:2379?ca=/etc/etcd/ca.crt"
    )
