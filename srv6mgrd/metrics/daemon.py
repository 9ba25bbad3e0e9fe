"""``srv6-metricsd``: wiring only."""

from __future__ import annotations

import logging
from pathlib import Path

from srv6mgrd import memory
from srv6mgrd.clients.addresses import is_socket
from srv6mgrd.clients.certificates import Certificates
from srv6mgrd.clients.passwords import Passwords
from srv6mgrd.ipfix.exporter import Exporter, Target
from srv6mgrd.jobs import until_stopped
from srv6mgrd.metrics.access import Access
from srv6mgrd.metrics.answers import Answers
from srv6mgrd.metrics.config import Config, load
from srv6mgrd.metrics.listener import Listener, entrances
from srv6mgrd.metrics.source import Source
from srv6mgrd.start import start

_NAME = "srv6-metricsd"
_LOG = logging.getLogger(_NAME)


async def _run(config: Config) -> None:
    certificates = None
    if config.client_ca:
        certificates = Certificates(config.client_ca, config.certificate_names, config.crl)
    passwords = Passwords(config.users)
    access = Access(passwords, certificates, config.readers, anonymous=config.anonymous)
    source = Source(Path(config.runtime_directory) / "store")
    listener = Listener(config, Answers(access, source.read))
    opened = entrances(config)
    _LOG.info("serving %s", ", ".join((*config.listen, *config.plaintext)))
    jobs = [memory.give_back(), *map(listener.accept, opened)]
    if config.ipfix_collector:
        target = Target(config.ipfix_collector, config.ipfix_interval, config.ipfix_domain)
        jobs.append(Exporter(target, source.accounting).run())
    try:
        await until_stopped(*jobs)
    finally:
        for entrance in opened:
            entrance.listening.close()
        for address in filter(is_socket, config.plaintext):
            Path(address.removeprefix("unix:")).unlink(missing_ok=True)
        await listener.close()
        passwords.close()
        source.close()


def main() -> None:
    """Entry point."""
    start(_NAME, "Serves metrics of srv6mgr to Prometheus.", load, _run)


if __name__ == "__main__":
    main()
