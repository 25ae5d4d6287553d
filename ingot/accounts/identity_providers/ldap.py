"""LDAP directory: lookup of users, and verification of their passwords. The only module that imports ldap3."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from ingot.accounts.identity_providers.directory import Directory, DirectoryEntry, DirectoryError
from ingot.core.api.params import number_or_none
from ingot.core.settings import Settings

UNTRUSTED = "The certificate is not trusted, or belongs to another host"
_TIMEOUT_SECONDS = 5
_ATTRIBUTES = ("cn", "displayName", "mail", "userAccountControl")
_ACCOUNT_DISABLED = 2
_SUCCESS, _SIZE_LIMIT_EXCEEDED, _NO_SUCH_OBJECT = 0, 4, 32


def configured_directory(settings: Settings) -> Directory | None:
    """Return the directory of the settings, if one is configured."""
    return LdapDirectory(settings) if settings.ldap_url else None


class LdapDirectory:
    """LDAP server of the settings; each call opens a connection of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def find(self, login: str) -> DirectoryEntry | None:
        """Return the only user with this login; None if there is none or several."""
        from ldap3.utils.conv import escape_filter_chars

        attribute = f"({self._settings.ldap_user_attribute}={escape_filter_chars(login)})"
        with self._bind_as_searcher() as connection:
            return self._search(connection, self._settings.ldap_base, self._filter(attribute), "SUBTREE")

    def entry_at(self, dn: str) -> DirectoryEntry | None:
        """Return the user at this DN, if the filter still permits them."""
        with self._bind_as_searcher() as connection:
            return self._search(connection, dn, self._filter("(objectClass=*)"), "BASE")

    def is_password(self, entry: DirectoryEntry, password: str) -> bool:
        """Return whether this is the user's password; never for an empty one, which servers may accept."""
        if not password:
            return False
        with self._connect(entry.dn, password) as connection:
            return bool(connection.bind())

    def _filter(self, condition: str) -> str:
        further = self._settings.ldap_filter
        return f"(&{condition}{further if further.startswith('(') else f'({further})'})" if further else condition

    def _search(self, connection: Any, base: str, condition: str, scope: str) -> DirectoryEntry | None:
        login = self._settings.ldap_user_attribute
        connection.search(base, condition, scope, attributes=[login, *_ATTRIBUTES], size_limit=2)
        if connection.result["result"] not in (_SUCCESS, _SIZE_LIMIT_EXCEEDED, _NO_SUCH_OBJECT):
            raise DirectoryError(connection.result["description"])
        entries = [row for row in connection.response or () if row.get("type") == "searchResEntry"]
        if len(entries) != 1:
            return None
        values = {name.lower(): value for name, value in entries[0]["raw_attributes"].items()}
        control = _first(values, "useraccountcontrol")
        return DirectoryEntry(
            entries[0]["dn"],
            _first(values, login.lower()),
            _first(values, "displayname") or _first(values, "cn"),
            _first(values, "mail"),
            bool((number_or_none(control) or 0) & _ACCOUNT_DISABLED),
        )

    @contextmanager
    def _bind_as_searcher(self) -> Iterator[Any]:
        with self._connect(self._settings.ldap_bind_dn, self._settings.ldap_bind_password) as connection:
            if not connection.bind():
                raise DirectoryError("The directory refuses ldap_bind_dn")
            yield connection

    @contextmanager
    def _connect(self, dn: str, password: str) -> Iterator[Any]:
        """Open a connection, encrypted if the settings say so, that is not yet bound.

        Referrals are not followed: they would send the password to a server that the settings do not name.
        """
        import ldap3
        from ldap3.core.exceptions import LDAPException

        settings = self._settings
        try:
            server = ldap3.Server(
                settings.ldap_url,
                connect_timeout=_TIMEOUT_SECONDS,
                get_info=ldap3.NONE,
                allowed_referral_hosts=[],
                tls=self._tls(),
            )
            connection = ldap3.Connection(
                server,
                dn or None,
                password or None,
                receive_timeout=_TIMEOUT_SECONDS,
                auto_referrals=False,
                check_names=False,
                read_only=True,
            )
            try:
                connection.open()
                if settings.ldap_start_tls and not connection.start_tls():
                    raise DirectoryError("The connection cannot be encrypted")
                yield connection
            finally:
                with suppress(LDAPException):  # An earlier error is the one to report.
                    connection.unbind()
                if connection.socket is not None:
                    connection.socket.close()  # ldap3 leaves it open if the connection failed.
        except DirectoryError:
            raise
        except Exception as error:  # ldap3 raises errors of any type, such as KeyError, for unexpected responses.
            raise DirectoryError(_reason(error)) from error

    def _tls(self) -> Any:
        """Return TLS options that require a certificate for the host of the URL."""
        import ldap3

        file = self._settings.ldap_ca_file
        try:
            ssl.create_default_context(cafile=file or None)
        except OSError as error:
            raise DirectoryError("The file of trusted certificates cannot be read") from error
        return ldap3.Tls(
            validate=ssl.CERT_REQUIRED, ca_certs_file=file or None, sni=urlsplit(self._settings.ldap_url).hostname
        )


def _reason(error: Exception) -> str:
    """Return the reason to report; ldap3 names a certificate that is not trusted only in its message."""
    name = type(error).__name__
    return UNTRUSTED if "certificate" in f"{name} {error}".lower() else name


def _first(values: dict[str, list[bytes]], name: str) -> str:
    first = (values.get(name) or [b""])[0]
    return first.decode("utf-8", "replace").replace("\0", "")
