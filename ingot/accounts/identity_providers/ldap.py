"""An LDAP directory: looking people up, and letting them prove who they are by the password that they have there."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from ingot.settings import Settings

PROVIDER = "ldapmain"
_TIMEOUT_SECONDS = 5
_ATTRIBUTES = ("cn", "displayName", "mail", "userAccountControl")
_DISABLED = 2
UNTRUSTED = "The certificate is not trusted, or is another host's"


class DirectoryError(Exception):
    """The directory does not answer, or not as it should; what it said is no caller's business."""


class DirectoryEntry(NamedTuple):
    """Somebody in the directory."""

    dn: str
    username: str
    name: str
    email: str
    disabled: bool


class LdapDirectory:
    """The directory of the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def find(self, login: str) -> DirectoryEntry | None:
        """Whoever signs in under this name there; nobody where several do."""
        with self._open(self._settings.ldap_bind_dn, self._settings.ldap_bind_password) as connection:
            return self._search(connection, self._settings.ldap_base, self._named(login), "SUBTREE")

    def at(self, dn: str) -> DirectoryEntry | None:
        """Whoever is at this place, if they still are and the filter still lets them in."""
        with self._open(self._settings.ldap_bind_dn, self._settings.ldap_bind_password) as connection:
            return self._search(connection, dn, self._filter("(objectClass=*)"), "BASE")

    def verify_password(self, entry: DirectoryEntry, password: str) -> bool:
        """Whether it is this person's password; an empty one proves nothing, though directories may say so."""
        if not password:
            return False
        with self._open(entry.dn, password, must_succeed=False) as connection:
            return connection is not None

    def _named(self, login: str) -> str:
        from ldap3.utils.conv import escape_filter_chars

        return self._filter(f"({self._settings.ldap_user_attribute}={escape_filter_chars(login)})")

    def _filter(self, own: str) -> str:
        further = self._settings.ldap_filter
        return f"(&{own}{further if further.startswith('(') else f'({further})'})" if further else own

    def _search(self, connection: Any, base: str, wanted: str, scope: str) -> DirectoryEntry | None:
        named = self._settings.ldap_user_attribute
        connection.search(base, wanted, scope, attributes=[named, *_ATTRIBUTES], size_limit=2)
        found = [row for row in connection.response or () if row.get("type") == "searchResEntry"]
        if connection.result["result"] not in (0, 4, 32):
            raise DirectoryError(connection.result["description"])
        if len(found) != 1:
            return None
        held = {name.lower(): values for name, values in found[0]["raw_attributes"].items()}
        control = _first_value(held, "useraccountcontrol")
        return DirectoryEntry(
            found[0]["dn"],
            _first_value(held, named.lower()),
            _first_value(held, "displayname") or _first_value(held, "cn"),
            _first_value(held, "mail"),
            control.isdigit() and bool(int(control) & _DISABLED),
        )

    @contextmanager
    def _open(self, dn: str, password: str, *, must_succeed: bool = True) -> Iterator[Any]:
        """A connection on which somebody has proven themselves; nothing where they could not."""
        import ldap3
        from ldap3.core.exceptions import LDAPException

        settings = self._settings
        tls = ldap3.Tls(validate=ssl.CERT_REQUIRED)
        # The library's own way compares names by what Python has given up, and leaves sockets open.
        tls.wrap_socket = partial(_wrap_with_tls, _tls_context(settings.ldap_ca_file))
        try:
            server = ldap3.Server(settings.ldap_url, connect_timeout=_TIMEOUT_SECONDS, get_info=ldap3.NONE, tls=tls)
            connection = ldap3.Connection(
                server,
                dn or None,
                password or None,
                receive_timeout=_TIMEOUT_SECONDS,
                check_names=False,
                read_only=True,
            )
            try:
                connection.open()
                if settings.ldap_start_tls and not connection.start_tls():
                    raise DirectoryError("The connection cannot be encrypted")
                bound = connection.bind()
                if not bound and must_succeed:
                    raise DirectoryError("The directory refuses who looks people up")
                yield connection if bound else None
            finally:
                with suppress(LDAPException):  # What went wrong before is what counts.
                    connection.unbind()
                if connection.socket is not None:
                    connection.socket.close()  # The library leaves one open that never got through.
        except LDAPException as error:
            raise DirectoryError(_failure_reason(error)) from error


def _tls_context(file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=file or None)
    except OSError as error:
        raise DirectoryError("The file of trusted certificates cannot be read") from error


def _wrap_with_tls(context: ssl.SSLContext, connection: Any, do_handshake: bool = True) -> None:  # noqa: ARG001 - The library's form.
    """Go on only with a host that proves its name."""
    connection.socket = context.wrap_socket(connection.socket, server_hostname=connection.server.host)


def _failure_reason(error: Exception) -> str:
    """What to look into; the library says by words alone that it does not trust somebody."""
    name = type(error).__name__
    return UNTRUSTED if "certificate" in f"{name} {error}".lower() else name


def configured_directory_or_none(settings: Settings) -> LdapDirectory | None:
    """The directory, where one is configured."""
    return LdapDirectory(settings) if settings.ldap_url else None


def _first_value(held: dict[str, list[bytes]], name: str) -> str:
    values = held.get(name) or [b""]
    return values[0].decode("utf-8", "replace").replace("\0", "")
