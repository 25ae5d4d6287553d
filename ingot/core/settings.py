"""Settings of a server: flags, then ``INGOT_*`` variables, then ``ingot.toml`` in the data directory.

Only the standard library is imported here, because the supervisor reads settings too and must stay small.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ingot.core.bucket_settings import (
    BUCKET_KINDS,
    BUCKET_PATH,
    BUNDLES,
    bucket_error_or_none,
    repository_storages_error_or_none,
)

_SSH_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")


class InvalidSetting(Exception):
    """An unusable setting; the message names it and says why."""


def _setting(help_text: str, default: Any = None) -> Any:
    return field(default=default, metadata={"help": help_text})


def _networks(text: str) -> list[IPv4Network | IPv6Network]:
    if text.strip() == "none":  # An empty variable counts as not set.
        return []
    return [ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings, read once at startup."""

    data: Path = _setting("Directory for the database, repositories, uploads and secrets.", Path("data"))
    run_dir: str = _setting(
        "Directory for sockets, addresses and metrics of this machine; by default run in the data directory.", ""
    )
    node_name: str = _setting("Name of this machine among the nodes of an instance; by default its host name.", "")
    host: str = _setting("Address to listen on.", "127.0.0.1")
    port: int = _setting("Port for HTTP; 0 chooses a free port.", 8080)
    ssh_port: int = _setting("Port for git over SSH, on the same address; 0 chooses a free port.", 2222)
    ssh_server: bool = _setting("Run the built-in SSH server; off where only OpenSSH serves git.", True)
    ssh_address: str = _setting("Host, or host:port, in SSH URLs; by default that of the URL and ssh_port.", "")
    separate_jobs: bool = _setting("Run jobs in a process of their own instead of with the SSH server.", False)
    runner: bool = _setting("Run a runner beside the server, which executes CI jobs in a shell of this machine.", False)
    workers: int = _setting("Number of web worker processes; 0 means one per core.", 0)
    database_url: str = _setting("URL of a PostgreSQL database, used instead of the embedded SQLite file.", "")
    database_direct_url: str = _setting(
        "URL of the PostgreSQL server itself, where database_url is that of a connection pooler in transaction mode.",
        "",
    )
    database_replica_urls: str = _setting(
        "URLs of standbys of the PostgreSQL server, separated by spaces, which then serve reads of web workers.", ""
    )
    repository_storages: str = _setting(
        "Further directories for repositories, as comma-separated pairs of a name and a path: fast=/mnt/fast; "
        "the path bucket stands for the bucket.",
        "",
    )
    repository_cache: str = _setting(
        "Directory for copies of repositories in the bucket; if empty, cache/repositories in the data directory.", ""
    )
    repository_cache_mb: int = _setting(
        "Size of the copies of repositories in the bucket that this machine keeps; 0 means no limit.", 20_480
    )
    object_storage: str = _setting(
        "Comma-separated kinds of files to store in the bucket: lfs, uploads, artifacts, packages, traces, "
        "secure_files, terraform_states, pages, backups, exports, bundles; or all.",
        "",
    )
    s3_bucket: str = _setting("Bucket of an S3-compatible object store.", "")
    s3_endpoint: str = _setting("URL of the object store; if empty, that of AWS.", "")
    s3_public_url: str = _setting(
        "URL under which clients reach the object store; if empty, the server transfers all files itself.", ""
    )
    s3_region: str = _setting("Region of the bucket.", "us-east-1")
    s3_access_key: str = _setting("Access key of the object store.", "")
    s3_secret_key: str = _setting("Secret key of the object store.", "")
    external_url: str = _setting("Public URL of the server; with https, cookies are Secure.", "")
    pages_url: str = _setting(
        "Base URL of static sites, such as https://pages.example.org, whose subdomains reach this server; if empty,"
        " there are sites only on pages_port.",
        "",
    )
    pages_in_path: bool = _setting(
        "Put the namespace into the path of sites, where pages_url has no subdomains.", False
    )
    pages_port: int = _setting("Port of static sites, on the same address; 0 chooses a free port, -1 opens none.", -1)
    pages_https_port: int = _setting(
        "Port on which static sites with a custom domain are served with its certificate; -1 opens none.", -1
    )
    pages_dns_server: str = _setting(
        "Name server that is asked for the TXT records of custom domains; by default that of the system.", ""
    )
    pages_acme_directory: str = _setting(
        "URL of the ACME server for certificates of custom domains.", "https://acme-v02.api.letsencrypt.org/directory"
    )
    pages_acme_email: str = _setting(
        "Address of the account at the ACME server, whose terms are thereby accepted; if empty, none is used.", ""
    )
    pages_acme_ca_file: str = _setting("CA certificates for the ACME server; if empty, those of the system.", "")
    root_password: str = _setting("First start only: password of the administrator root.", "")
    root_token: str = _setting("First start only: personal access token of root, with the scopes api and sudo.", "")
    allow_local_requests: bool = _setting("Allow webhooks and imports to reach local and private addresses.", False)
    allowed_networks: str = _setting(
        "Comma-separated addresses or networks that webhooks and imports may always reach.", ""
    )
    hook_log_days: int = _setting("Days for which webhook deliveries are logged and retried.", 7)
    trusted_proxies: str = _setting(
        "Comma-separated addresses or networks whose X-Forwarded-* headers are trusted.", ""
    )
    metrics_token: str = _setting("Token for reading /-/metrics from anywhere, as a bearer or as ?token=.", "")
    metrics_networks: str = _setting(
        "Comma-separated addresses or networks that may read /-/metrics without a token, or none;"
        " by default loopback, unless external_url names another host.",
        "",
    )
    reported_version: str = _setting("Version in the response of GET /version; clients adapt to it.", "16.11.0")
    profile: str = _setting(
        "Behaviour where versions of GitLab differ: 9.4 or current; only for temporary instances (default: current).",
        "9.4",
    )
    testing_secret: str = _setting(
        "Secret of the control endpoints of ingot serve --testing, by default a random one; with it, --testing also"
        " serves other addresses than loopback.",
        "",
    )
    default_branch: str = _setting("Default branch of new repositories.", "master")
    cache_mb: int = _setting("Memory budget of all caches of the server in megabytes.", 64)
    min_free_mb: int = _setting(
        "Free disk space in megabytes below which the server reports that it is not ready; 0 turns the check off.", 100
    )
    max_transfers: int = _setting(
        "Concurrent git transfers of each web worker; twice as many over SSH, and four times as many of files.", 24
    )
    slow_reader_seconds: int = _setting(
        "Seconds after which a client that reads less than 1 KB per second of a response is disconnected.", 60
    )
    archive_cache_mb: int = _setting(
        "Maximum size in megabytes of the stored archives of repositories; 0 means that none are stored.", 512
    )
    max_push_mb: int = _setting("Maximum size of a push in megabytes.", 2048)
    max_refs: int = _setting(
        "Maximum number of branches, tags and notes of a repository; pushes and imports that exceed it are refused.",
        200_000,
    )
    max_file_mb: int = _setting("Maximum size of a pushed or committed file in megabytes; 0 means no limit.", 0)
    max_lfs_mb: int = _setting("Maximum size of a file in Git LFS in megabytes; 0 means no limit.", 0)
    max_trace_mb: int = _setting("Maximum size of the log of a CI job in megabytes; a longer one fails the job.", 100)
    ci_needs_size_limit: int = _setting("Maximum number of jobs that one CI job may need.", 50)
    runner_poll_seconds: int = _setting(
        "Seconds for which a runner that polls for a job may wait for one; 0 means that polls are answered at once.", 50
    )
    log_format: str = _setting("Log format: json, pretty, or auto (pretty on a terminal, else json).", "auto")
    smtp_url: str = _setting(
        "Mail server: smtp://user:password@host:port; if empty, emails are stored in data/mail.", ""
    )
    mail_from: str = _setting("Sender address of emails.", "ingot@localhost")
    oidc_issuer: str = _setting("URL of an OpenID Connect provider for signing in.", "")
    oidc_client_id: str = _setting("Client id of this instance at the provider.", "")
    oidc_client_secret: str = _setting("Client secret of this instance at the provider.", "")
    oidc_label: str = _setting("Name of the provider on the sign-in page.", "OpenID Connect")
    oidc_sign_up: bool = _setting("Create an account when a new user signs in through the provider.", False)
    oidc_link_by_email: bool = _setting(
        "Sign users in to an existing account with the same verified email address.", False
    )
    ldap_url: str = _setting("LDAP server for signing in: ldap://host:389 or ldaps://host:636.", "")
    ldap_start_tls: bool = _setting("Use STARTTLS on an ldap:// connection.", False)
    ldap_ca_file: str = _setting("CA certificates for the LDAP server; if empty, those of the system.", "")
    ldap_bind_dn: str = _setting("DN for looking up users; if empty, the lookup is anonymous.", "")
    ldap_bind_password: str = _setting("Password of that DN.", "")
    ldap_base: str = _setting("Base DN of the user search, such as ou=people,dc=example,dc=org.", "")
    ldap_user_attribute: str = _setting("Attribute that contains the login name: uid or sAMAccountName.", "uid")
    ldap_filter: str = _setting("Filter for users who may sign in, such as (memberOf=cn=dev,dc=example,dc=org).", "")
    ldap_sign_up: bool = _setting("Create an account when a user of the directory first signs in.", False)
    ldap_link_by_email: bool = _setting("Sign users in to an existing account with the same email address.", False)

    @property
    def run(self) -> Path:
        """Return the directory for files of this machine."""
        return Path(self.run_dir).absolute() if self.run_dir else self.data / "run"

    @property
    def node(self) -> str:
        """Return the name of this machine."""
        return self.node_name or os.uname().nodename

    @property
    def metrics(self) -> Path:
        """Return the directory for the counts of the workers of this machine."""
        return self.run / f"metrics-{self.node}"

    @property
    def database(self) -> str:
        """Return the URL of the database in use."""
        return self.database_url or f"sqlite:///{self.data.absolute() / 'ingot.db'}"

    @property
    def direct_database(self) -> str:
        """Return the URL of the database, not through a connection pooler if that is possible."""
        return self.database_direct_url or self.database

    @property
    def database_replicas(self) -> list[str]:
        """Return the URLs of the standbys that serve reads."""
        return self.database_replica_urls.split()

    @property
    def embedded(self) -> bool:
        """Return whether the database is a file in the data directory."""
        return self.database.startswith("sqlite:")

    @property
    def base_url(self) -> str:
        """Return the base of links in emails; it must not depend on a request, whose headers could be forged."""
        return self.external_url.rstrip("/") or f"http://{url_host(self.host)}:{self.port}"

    @property
    def serves_sites(self) -> bool:
        """Return whether static sites are published."""
        return bool(self.pages_url) or self.pages_port >= 0

    @property
    def sites_in_path(self) -> bool:
        """Return whether the URLs of static sites contain the namespace in the path instead of the host."""
        return self.pages_in_path or not self.pages_url

    @property
    def pages_host(self) -> str:
        """Return the domain whose subdomains are static sites; empty if namespaces are in the path."""
        return "" if self.sites_in_path else (urlsplit(self.pages_url).hostname or "").lower()

    @property
    def is_https(self) -> bool:
        """Return whether users reach the server over https."""
        return urlsplit(self.external_url).scheme == "https"

    @property
    def proxies(self) -> list[IPv4Network | IPv6Network]:
        """Return the networks of trusted proxies."""
        return _networks(self.trusted_proxies)

    @property
    def metrics_allowed_networks(self) -> list[IPv4Network | IPv6Network]:
        """Return the networks that may read the metrics: by default loopback, if users reach the server there, too.

        Requests through a proxy on this machine come from loopback. Nothing else distinguishes them from those of a
        local Prometheus if the proxy adds no header.
        """
        if self.metrics_networks or (self.external_url and not is_loopback(urlsplit(self.external_url).hostname or "")):
            return _networks(self.metrics_networks)
        return _networks("127.0.0.0/8,::1/128")

    @property
    def storage_directories(self) -> dict[str, Path]:
        """Return the directories of further repository storages, by name."""
        pairs = (part.strip().partition("=") for part in self.repository_storages.split(",") if part.strip())
        directories = {name.strip(): Path(path.strip()).absolute() for name, _, path in pairs}
        if self.storage_in_bucket:
            copies = Path(self.repository_cache or self.data / "cache" / "repositories")
            directories[self.storage_in_bucket] = copies.absolute()
        return directories

    @property
    def storage_in_bucket(self) -> str:
        """Return the name of the repository storage in the bucket; empty if there is none."""
        pairs = (part.strip().partition("=") for part in self.repository_storages.split(",") if part.strip())
        return next((name.strip() for name, _, path in pairs if path.strip() == BUCKET_PATH), "")

    @property
    def kinds_in_bucket(self) -> tuple[str, ...]:
        """Return the kinds of files of which new ones are stored in the bucket."""
        if self.object_storage.strip() == "all":
            return (*BUCKET_KINDS, BUNDLES)
        return tuple(part.strip() for part in self.object_storage.split(",") if part.strip())

    @property
    def allowed_outgoing_networks(self) -> list[IPv4Network | IPv6Network]:
        """Return the networks that outgoing requests may always reach."""
        return _networks(self.allowed_networks)


def is_loopback(host: str) -> bool:
    """Return whether a host name or address always means this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def local_host(host: str) -> str:
    """Return the host by which this machine reaches a server of its own: one that serves all addresses on loopback."""
    try:
        address = ip_address(host)
    except ValueError:  # A name.
        return host
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if address.version == 4 else "::1"


def url_host(host: str) -> str:
    """Return a host as it is written in URLs: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def split_ssh_address(address: str) -> tuple[str, int]:
    """Return the host and port of an ``ssh_address``."""
    parts = _SSH_ADDRESS.fullmatch(address)
    if parts is None or int(parts["port"] or 22) > 65535:
        raise InvalidSetting("ssh_address must look like git.example.org or git.example.org:2222")
    return parts["host"], int(parts["port"] or 22)


class GivenSetting(NamedTuple):
    """Value of a setting that has not its default, as it was written."""

    value: Any
    origin: str
    """Flag, variable or file."""


def load_settings(flags: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Settings:
    """Load the settings from flags, environment and file; flags that are None were not given."""
    given = given_settings(flags, os.environ if environment is None else environment)
    return _validated(Settings(**{name: _converted(name, each.value) for name, each in given.items()}))


def given_settings(flags: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, GivenSetting]:
    """Return the settings that are given, each with its origin: a flag before a variable before the file."""
    given = {name: value for name, value in flags.items() if value is not None}
    # Absolute, because git runs in the directories of repositories.
    data = Path(given.get("data") or environment.get("INGOT_DATA") or "data").absolute()
    file = data / "ingot.toml"
    file_values: dict[str, Any] = {}
    if file.is_file():
        try:
            file_values = tomllib.loads(file.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidSetting(f"{file} is not valid TOML: {error}") from error
    names = {setting.name for setting in fields(Settings)}
    unknown = sorted(set(file_values) - names)
    if unknown:
        raise InvalidSetting(f"{file} contains settings that do not exist: {', '.join(unknown)}")
    values = {name: GivenSetting(value, str(file)) for name, value in file_values.items()}
    for name in names:
        variable = f"INGOT_{name.upper()}"
        if name in given:
            values[name] = GivenSetting(given[name], f"--{name.replace('_', '-')}")
        elif environment.get(variable):
            values[name] = GivenSetting(environment[variable], variable)
    origin = values["data"].origin if given.get("data") or environment.get("INGOT_DATA") else "default"
    return values | {"data": GivenSetting(data, origin)}


def _converted(name: str, value: Any) -> Any:
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


def _validated(settings: Settings) -> Settings:
    for name in ("port", "ssh_port"):
        if not 0 <= getattr(settings, name) <= 65535:
            raise InvalidSetting(f"{name} must be between 0 and 65535")
    _validate_sites(settings)
    for name in (
        "workers",
        "cache_mb",
        "min_free_mb",
        "max_file_mb",
        "max_lfs_mb",
        "runner_poll_seconds",
        "ci_needs_size_limit",
        "archive_cache_mb",
        "repository_cache_mb",
    ):
        if getattr(settings, name) < 0:
            raise InvalidSetting(f"{name} must not be negative")
    for name in ("max_push_mb", "max_refs", "max_trace_mb", "hook_log_days", "max_transfers", "slow_reader_seconds"):
        if getattr(settings, name) < 1:
            raise InvalidSetting(f"{name} must be at least 1")
    if settings.external_url:
        parts = urlsplit(settings.external_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidSetting("external_url must look like https://forge.example.org")
    if settings.ssh_address:
        split_ssh_address(settings.ssh_address)
    for name in ("database_url", "database_direct_url", "database_replica_urls"):
        urls: str = getattr(settings, name)
        if not all(_is_postgresql_url(url) for url in urls.split()):
            raise InvalidSetting(f"{name} must look like postgresql://user:password@host/database")
        if urls and not settings.database_url:
            raise InvalidSetting(f"{name} needs database_url")
    if settings.profile not in ("9.4", "current"):
        raise InvalidSetting("profile must be 9.4 or current")
    if settings.log_format not in ("auto", "json", "pretty"):
        raise InvalidSetting("log_format must be auto, json or pretty")
    for name in ("trusted_proxies", "allowed_networks", "metrics_networks"):
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
    if settings.ldap_url and find_spec("ldap3") is None:
        raise InvalidSetting(
            "ldap_url needs the package ldap3, which is not installed: pip install 'ingot-forge[ldap]'"
        )
    problem = bucket_error_or_none(settings) or repository_storages_error_or_none(settings)
    if problem is not None:
        raise InvalidSetting(problem)
    if settings.root_password and len(settings.root_password) < 8:
        raise InvalidSetting("root_password must have at least 8 characters")
    if settings.root_token and len(settings.root_token) < 8:
        raise InvalidSetting("root_token must have at least 8 characters")
    if settings.testing_secret and len(settings.testing_secret) < 16:
        raise InvalidSetting("testing_secret must have at least 16 characters")
    return settings


def _validate_sites(settings: Settings) -> None:
    for name in ("pages_port", "pages_https_port"):
        if not -1 <= getattr(settings, name) <= 65535:
            raise InvalidSetting(f"{name} must be between -1 and 65535")
    if settings.pages_https_port >= 0 and not settings.serves_sites:
        raise InvalidSetting("pages_https_port needs pages_url or pages_port")
    if settings.pages_in_path and not settings.pages_url:
        raise InvalidSetting("pages_in_path needs pages_url")
    if settings.pages_acme_email and find_spec("acme") is None:
        raise InvalidSetting(
            "pages_acme_email needs the package acme, which is not installed: pip install 'ingot-forge[acme]'"
        )
    if not settings.pages_url:
        return
    parts = urlsplit(settings.pages_url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host or parts.path.strip("/"):
        raise InvalidSetting("pages_url must look like https://pages.example.org")
    if not settings.pages_in_path and (":" in host or host.replace(".", "").isdigit()):
        raise InvalidSetting("pages_url needs a host name with subdomains, or pages_in_path")
    if settings.pages_in_path and settings.pages_port < 0:
        raise InvalidSetting("pages_in_path needs pages_port")
    # A site on the host of the forge could act in the name of its visitors.
    forge = urlsplit(settings.external_url).hostname or ""
    if forge and (forge == host or forge.endswith(f".{host}")):
        raise InvalidSetting("pages_url must have another host than external_url, which is not one of its subdomains")


def _is_postgresql_url(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("postgresql", "postgres") and url.count("://") == 1
    except ValueError:  # Such as an incomplete IPv6 address.
        return False
