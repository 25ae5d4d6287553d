"""LDAP over TLS: trusted and untrusted certificates."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingot.accounts.identity_providers.directory import DirectoryError
from ingot.accounts.identity_providers.ldap import UNTRUSTED, LdapDirectory
from ingot.core.settings import Settings
from ingot.maintenance.doctor.directory import check_directory
from tests.certificates import certificate_for
from tests.ldap_directory import BASE, BIND_USER, ENTRIES, SECRET, LdapServerProcess
from tests.second_instance import serving
from tests.web.browser import Browser


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the certificate of this machine."""
    return certificate_for(tmp_path_factory.mktemp("own"), "localhost")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the certificate of another machine."""
    return certificate_for(tmp_path_factory.mktemp("foreign"), "other.example")


@pytest.fixture(scope="module", params=["tls", "start"])
def tls_mode(request: pytest.FixtureRequest) -> str:
    """Return the TLS from the first byte, or StartTLS."""
    return str(request.param)


@pytest.fixture(scope="module")
def server(own: str, tls_mode: str) -> Iterator[LdapServerProcess]:
    """Yield the LDAP server."""
    made = LdapServerProcess()
    made.begin(ENTRIES["ann"], tls=(tls_mode, own))
    yield made
    made.end()


def _chosen(server: LdapServerProcess, tls_mode: str, trusted: str) -> dict[str, object]:
    scheme = "ldaps" if tls_mode == "tls" else "ldap"
    named = {"ldap_base": BASE, "ldap_bind_dn": BIND_USER[0], "ldap_bind_password": BIND_USER[1]}
    where = {"ldap_url": f"{scheme}://localhost:{server.port}", "ldap_start_tls": tls_mode == "start"}
    return {**named, **where, "ldap_ca_file": trusted, "ldap_sign_up": True}


def test_users_sign_in_over_tls(server: LdapServerProcess, tls_mode: str, own: str, tmp_path: Path) -> None:
    chosen = _chosen(server, tls_mode, own)
    with serving(tmp_path / "data", **chosen) as second, Browser(second.url) as browser:
        assert browser.sign_in("ann", SECRET).status_code == 302
        assert list(check_directory(second.settings)) == []


@pytest.mark.parametrize("trusted", ["nothing of it", "another", "not even a file"])
def test_an_untrusted_certificate_is_rejected(
    server: LdapServerProcess, tls_mode: str, foreign: str, tmp_path: Path, trusted: str
) -> None:
    file = {"nothing of it": "", "another": foreign}.get(trusted, str(tmp_path / "gone.pem"))
    settings = Settings(data=tmp_path, **_chosen(server, tls_mode, file))  # type: ignore[arg-type] # As a file would say it.

    with pytest.raises(DirectoryError) as trouble:
        LdapDirectory(settings).find("ann")

    if trusted != "not even a file":
        assert str(trouble.value) == UNTRUSTED
        (finding,) = check_directory(settings)
        assert "localhost cannot be used: The certificate is not trusted" in str(finding.text)


# ldap3 leaves the socket of a rejected certificate to the garbage collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning")
def test_the_certificate_of_another_host_is_rejected(tls_mode: str, foreign: str, tmp_path: Path) -> None:
    server = LdapServerProcess()
    server.begin(ENTRIES["ann"], tls=(tls_mode, foreign))
    try:
        settings = Settings(data=tmp_path, **_chosen(server, tls_mode, foreign))  # type: ignore[arg-type] # As a file would say it.
        with pytest.raises(DirectoryError, match="another host"):
            LdapDirectory(settings).find("ann")
    finally:
        server.end()


def test_an_unencrypted_server_is_rejected(tmp_path: Path, own: str) -> None:
    server = LdapServerProcess()
    server.begin(ENTRIES["ann"])
    try:
        settings = Settings(data=tmp_path, **_chosen(server, "start", own))  # type: ignore[arg-type] # As a file would say it.
        with pytest.raises(DirectoryError):
            LdapDirectory(settings).find("ann")
    finally:
        server.end()
