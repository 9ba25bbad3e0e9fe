"""TLS of gRPC: certificates that are read again for each connection."""

from __future__ import annotations

from pathlib import Path

import grpc

from srv6mgrd.clients.certificate_files import CertificateFiles, Contents, files
from srv6mgrd.gnmi.config import Config


def credentials(config: Config) -> grpc.ServerCredentials:
    """Server credentials that read their files again for each connection.

    So a certificate is rotated by replacing its files (gnmi-authentication.md); files that can't
    be used, half written ones among them, leave the last good certificate in service. gRPC
    speaks TLS 1.2 and above only.
    """
    certificate, key = files(config.certificate, config.key, config.state_directory)
    client_ca = Path(config.client_ca) if config.client_ca else None
    bundle = CertificateFiles(certificate, key, client_ca)

    def fresh() -> grpc.ServerCertificateConfiguration | None:
        found = bundle.fresh()
        return None if found is None else _configuration(found)

    # None from the fetcher keeps what is in service (grpc.dynamic_ssl_server_credentials); its
    # type stubs don't say so.
    return grpc.dynamic_ssl_server_credentials(
        _configuration(bundle.read()),
        fresh,  # type: ignore[arg-type]
        require_client_authentication=client_ca is not None,
    )


def _configuration(found: Contents) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(found.key, found.certificate)], found.client_ca
    )
