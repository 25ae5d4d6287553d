"""Rules of outgoing requests that administrators change while the server runs."""

from functools import partial
from ipaddress import ip_network

import msgspec

from ingot.accounts.instance.settings import cached_stored_settings
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.outgoing.addresses import Network
from ingot.core.outgoing.guard import OutgoingRules, SsrfGuard
from ingot.core.settings import Settings


class _OutgoingSettings(msgspec.Struct):
    """The settings that concern outgoing requests; limit_settings.py declares them."""

    allow_local_requests_from_system_hooks: bool = False
    allow_local_requests_from_web_hooks_and_services: bool = False
    outbound_local_requests_whitelist: tuple[str, ...] = ()
    deny_all_requests_except_allowed: bool = False
    silent_mode_enabled: bool = False
    dns_rebinding_protection_enabled: bool = True


def outgoing_rules(db: Connection) -> OutgoingRules:
    """Return the current rules of requests that send something."""
    settings = _settings(db)
    networks = {entry: _network(entry) for entry in settings.outbound_local_requests_whitelist}
    return OutgoingRules(
        settings.allow_local_requests_from_web_hooks_and_services,
        settings.allow_local_requests_from_system_hooks,
        tuple(network for network in networks.values() if network is not None),
        frozenset(entry.lower() for entry, network in networks.items() if network is None),
        settings.deny_all_requests_except_allowed,
        settings.silent_mode_enabled,
        settings.dns_rebinding_protection_enabled,
    )


def reading_rules(db: Connection) -> OutgoingRules:
    """Return the current rules of requests that only read, such as those of imports; silent mode allows them."""
    return outgoing_rules(db)._replace(silent=False)


def is_silent(db: Connection) -> bool:
    """Return whether nothing may leave the server."""
    return _settings(db).silent_mode_enabled


def instance_guard(settings: Settings, database: Database | None = None, *, reads_only: bool = False) -> SsrfGuard:
    """Return the guard of outgoing requests, which reads the current rules for each check."""
    guard = SsrfGuard(settings.allow_local_requests, settings.allowed_outgoing_networks)
    if database is not None:
        guard.rules = partial(database.read, reading_rules if reads_only else outgoing_rules)
    return guard


def guard_within(db: Connection, settings: Settings) -> SsrfGuard:
    """Return the guard that checks the URLs of a request, within its transaction."""
    return instance_guard(settings).under(outgoing_rules(db))


def _settings(db: Connection) -> _OutgoingSettings:
    return msgspec.json.decode(cached_stored_settings(db).document, type=_OutgoingSettings)


def _network(entry: str) -> Network | None:
    try:
        return ip_network(entry, strict=False)
    except ValueError:
        return None
