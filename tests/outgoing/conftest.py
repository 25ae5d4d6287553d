"""Certificates for the servers of these tests."""

import ssl
from pathlib import Path

import pytest

from tests.certificates import certificate_for


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the TLS contexts: a server's for repo.example, and a client's that trusts it."""
    file = certificate_for(tmp_path, "repo.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.create_default_context(cafile=file)
    return server, client
