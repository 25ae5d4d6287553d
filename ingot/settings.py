"""What can be configured: flags, then ``INGOT_*`` variables, then ``ingot.toml`` in the data directory.

Only the standard library is imported here, because the supervisor reads settings too and stays small.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class InvalidSetting(Exception):
    """A setting that cannot be used; the text says which and why."""


def _setting(help_text: str, default: Any = None) -> Any:
    return field(default=default, metadata={"help": help_text})


def _networks(text: str) -> list[IPv4Network | IPv6Network]:
    return [ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]


@dataclass(frozen=True, slots=True)
class Settings:
    """Read once at start, then passed to whoever needs it."""

    data: Path = _setting("Directory that holds everything that must last.", Path("data"))
    host: str = _setting("Address to listen on.", "127.0.0.1")
    port: int = _setting("Port for HTTP; 0 lets the system choose.", 8080)
    ssh_port: int = _setting("Port for git over SSH, on the same address; 0 lets the system choose.", 2222)
    workers: int = _setting("Web worker processes; 0 means one per core.", 0)
    database_url: str = _setting("PostgreSQL server to use instead of the embedded SQLite file.", "")
    external_url: str = _setting("URL by which people reach the server; also decides whether cookies are Secure.", "")
    root_password: str = _setting("First start only: the password of the administrator root.", "")
    root_token: str = _setting("First start only: a personal access token of root, with scopes api and sudo.", "")
    allow_local_requests: bool = _setting("Let hooks and imports reach local and private addresses.", False)
    allowed_networks: str = _setting(
        "Comma-separated addresses or networks that hooks and imports may reach in any case.", ""
    )
    hook_log_days: int = _setting("Days for which hooks keep what they sent and what was answered.", 7)
    trusted_proxies: str = _setting("Comma-separated addresses or networks whose X-Forwarded-* headers count.", "")
    reported_version: str = _setting("What GET /version says; clients switch their behaviour on it.", "16.11.0")
    default_branch: str = _setting("Name of the first branch of new repositories.", "master")
    cache_mb: int = _setting("Megabytes that one process may use for its caches.", 64)
    max_push_mb: int = _setting("Megabytes that one push may bring.", 2048)
    max_file_mb: int = _setting("Megabytes that a pushed or committed file may have; 0 sets no limit.", 0)
    max_lfs_mb: int = _setting("Megabytes that a file in Git LFS may have; 0 sets no limit.", 0)
    log_format: str = _setting("json, pretty, or auto: pretty on a terminal.", "auto")
    smtp_url: str = _setting(
        "Where mail is sent: smtp://user:password@host:port; without it, mail is kept in data/mail.", ""
    )
    mail_from: str = _setting("Sender of mail.", "ingot@localhost")
    oidc_issuer: str = _setting("Address of an OpenID Connect provider by which people may sign in.", "")
    oidc_client_id: str = _setting("What that provider calls this instance.", "")
    oidc_client_secret: str = _setting("The secret that it gave this instance.", "")
    oidc_label: str = _setting("What the sign-in page calls that provider.", "OpenID Connect")
    oidc_sign_up: bool = _setting("Make accounts for people whom only that provider knows.", False)
    oidc_link_by_email: bool = _setting("Let people in whose proven address there is that of an account here.", False)
    ldap_url: str = _setting("Directory whose people may sign in: ldap://host:389 or ldaps://host:636.", "")
    ldap_start_tls: bool = _setting("Encrypt a connection that begins as ldap://.", False)
    ldap_ca_file: str = _setting("Certificates that the directory's must come from; else those of the machine.", "")
    ldap_bind_dn: str = _setting("Who looks people up in the directory; nobody in particular, if empty.", "")
    ldap_bind_password: str = _setting("The password for that.", "")
    ldap_base: str = _setting("Below what people are looked up, such as ou=people,dc=example,dc=org.", "")
    ldap_user_attribute: str = _setting("What people type to sign in: uid, or sAMAccountName.", "uid")
    ldap_filter: str = _setting("Who of them may come in, such as (memberOf=cn=dev,dc=example,dc=org).", "")
    ldap_sign_up: bool = _setting("Make accounts for people of the directory at their first sign-in.", False)
    ldap_link_by_email: bool = _setting("Let people in whose address there is that of an account here.", False)

    @property
    def database(self) -> str:
        """The URL of the database in use."""
        return self.database_url or f"sqlite:///{self.data.absolute() / 'ingot.db'}"

    @property
    def embedded(self) -> bool:
        """Whether the database is a file in the data directory."""
        return self.database.startswith("sqlite:")

    @property
    def base_url(self) -> str:
        """Where links in mails lead; nothing that a request says can change it."""
        return self.external_url.rstrip("/") or f"http://{self.host}:{self.port}"

    @property
    def is_https(self) -> bool:
        """Whether people reach the server by https."""
        return urlsplit(self.external_url).scheme == "https"

    @property
    def proxies(self) -> list[IPv4Network | IPv6Network]:
        """The networks of trusted proxies."""
        return _networks(self.trusted_proxies)

    @property
    def allowed_outgoing_networks(self) -> list[IPv4Network | IPv6Network]:
        """The networks that requests of ours may reach in any case."""
        return _networks(self.allowed_networks)


def load_settings(flags: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Settings:
    """Put the settings together from where they may stand; flags that are ``None`` were not given."""
    environment = os.environ if environment is None else environment
    given = {name: value for name, value in flags.items() if value is not None}
    data = Path(given.get("data") or environment.get("INGOT_DATA") or "data")
    file = data / "ingot.toml"
    written: dict[str, Any] = {}
    if file.is_file():
        try:
            written = tomllib.loads(file.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidSetting(f"{file} is not valid TOML: {error}") from error
    names = {setting.name for setting in fields(Settings)}
    unknown = sorted(set(written) - names)
    if unknown:
        raise InvalidSetting(f"{file} holds settings that do not exist: {', '.join(unknown)}")
    values: dict[str, Any] = {**written}
    values |= {name: environment[f"INGOT_{name.upper()}"] for name in names if environment.get(f"INGOT_{name.upper()}")}
    values |= {name: value for name, value in given.items() if name in names}
    values["data"] = data
    return _checked(Settings(**{name: _typed(name, value) for name, value in values.items()}))


def _typed(name: str, value: Any) -> Any:
    kind = {setting.name: setting.type for setting in fields(Settings)}[name]
    try:
        if kind is int:
            return int(value)
        if kind is bool and isinstance(value, str):
            return {
                "1": True,
                "true": True,
                "yes": True,
                "on": True,
                "0": False,
                "false": False,
                "no": False,
                "off": False,
            }[value.lower()]
        if kind is Path:
            return Path(value)
        return value if kind is bool else str(value)
    except (ValueError, KeyError) as error:
        raise InvalidSetting(f"{name} cannot be {value!r}") from error


def _checked(settings: Settings) -> Settings:
    for name in ("port", "ssh_port"):
        if not 0 <= getattr(settings, name) <= 65535:
            raise InvalidSetting(f"{name} must be between 0 and 65535")
    for name in ("workers", "cache_mb", "max_file_mb", "max_lfs_mb"):
        if getattr(settings, name) < 0:
            raise InvalidSetting(f"{name} must not be negative")
    for name in ("max_push_mb", "hook_log_days"):
        if getattr(settings, name) < 1:
            raise InvalidSetting(f"{name} must be at least 1")
    if settings.external_url:
        parts = urlsplit(settings.external_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidSetting("external_url must look like https://forge.example.org")
    if settings.database_url and urlsplit(settings.database_url).scheme not in ("postgresql", "postgres"):
        raise InvalidSetting("database_url must look like postgresql://user:password@host/database")
    if settings.log_format not in ("auto", "json", "pretty"):
        raise InvalidSetting("log_format must be auto, json or pretty")
    for name in ("trusted_proxies", "allowed_networks"):
        try:
            _networks(getattr(settings, name))
        except ValueError as error:
            raise InvalidSetting(f"{name}: {error}") from error
    if settings.oidc_issuer and urlsplit(settings.oidc_issuer).scheme not in ("http", "https"):
        raise InvalidSetting("oidc_issuer must look like https://login.example.org")
    if bool(settings.oidc_issuer) != bool(settings.oidc_client_id):
        raise InvalidSetting("oidc_issuer and oidc_client_id must be given together")
    if settings.ldap_url and urlsplit(settings.ldap_url).scheme not in ("ldap", "ldaps"):
        raise InvalidSetting("ldap_url must look like ldaps://directory.example.org:636")
    if bool(settings.ldap_url) != bool(settings.ldap_base):
        raise InvalidSetting("ldap_url and ldap_base must be given together")
    if settings.root_password and len(settings.root_password) < 8:
        raise InvalidSetting("root_password must have at least 8 characters")
    if settings.root_token and len(settings.root_token) < 8:
        raise InvalidSetting("root_token must have at least 8 characters")
    return settings
