"""Referrals of an LDAP directory to another server, which must not receive passwords, and a missing ldap3."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from ingot.accounts.identity_providers.directory import DirectoryEntry, DirectoryError
from ingot.accounts.identity_providers.ldap import LdapDirectory
from ingot.core import settings as settings_module
from ingot.core.settings import InvalidSetting, Settings, load_settings

_BIND, _SEARCH = 0x60, 0x63
_SUCCESS = bytes.fromhex("0a0100 0400 0400")


def _tagged(tag: int, content: bytes) -> bytes:
    return bytes([tag, len(content)]) + content


def _parsed(request: bytes) -> tuple[bytes, int]:
    """Return the message id and the operation of a request."""
    start = 2 + (request[1] & 0x7F if request[1] & 0x80 else 0)
    end = start + 2 + request[start + 1]
    return request[start + 2 : end], request[end]


def _referral(port: int) -> bytes:
    """Return an LDAPResult with the result code ``referral``."""
    return bytes.fromhex("0a010a 0400 0400") + _tagged(0xA3, _tagged(4, f"ldap://127.0.0.1:{port}/".encode()))


@contextmanager
def _directory(tmp_path: Path, *, bind: bytes, search: bytes = _SUCCESS) -> Iterator[LdapDirectory]:
    """Serve one connection with these results, in the encoding of LDAP messages of less than 128 bytes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            while request := connection.recv(4096):
                number, operation = _parsed(request)
                if operation not in (_BIND, _SEARCH):
                    return
                result = bind if operation == _BIND else search
                answer = _tagged(operation + (1 if operation == _BIND else 2), result)
                connection.sendall(_tagged(0x30, _tagged(2, number) + answer))

    thread = Thread(target=serve)
    thread.start()
    try:
        url = f"ldap://127.0.0.1:{listener.getsockname()[1]}"
        yield LdapDirectory(Settings(data=tmp_path, ldap_url=url, ldap_base="dc=example,dc=org"))
    finally:
        thread.join()
        listener.close()


@pytest.fixture
def other() -> Iterator[socket.socket]:
    """Yield a server that referrals name; it must never get a connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        yield listener
        with pytest.raises(TimeoutError):
            listener.accept()


def test_a_referral_of_a_search_is_an_error(tmp_path: Path, other: socket.socket) -> None:
    """Attack: the directory, or a proxy, redirects Ingot with its password to another server."""
    with (
        _directory(tmp_path, bind=_SUCCESS, search=_referral(other.getsockname()[1])) as directory,
        pytest.raises(DirectoryError, match="referral"),
    ):
        directory.find("ann")


def test_a_referral_of_a_bind_is_no_proof(tmp_path: Path, other: socket.socket) -> None:
    """The user's password is sent to the configured server only; ldap3 cannot even read such a response."""
    entry = DirectoryEntry("uid=ann,dc=example,dc=org", "ann", "Ann", "", False)
    with (
        _directory(tmp_path, bind=_referral(other.getsockname()[1])) as directory,
        pytest.raises(DirectoryError),
    ):
        directory.is_password(entry, "secret")


def test_ldap_without_ldap3_is_rejected_at_startup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the package and the command that installs it."""
    chosen = {"data": str(tmp_path), "ldap_url": "ldaps://directory.example.org", "ldap_base": "dc=example,dc=org"}
    assert load_settings(chosen).ldap_base
    monkeypatch.setattr(settings_module, "find_spec", lambda _: None)
    with pytest.raises(InvalidSetting, match=r"pip install 'ingot-forge\[ldap\]'"):
        load_settings(chosen)
