"""Email addresses that the settings of the instance allow for new users."""

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.settings import InstanceSettings
from ingot.core.db.connection import Connection
from ingot.core.late_imports import require_modules


@lru_cache(8)
def _compiled(pattern: str) -> Any:
    """Compile an expression that is matched in linear time; None if it is not valid."""
    require_modules("re2")  # Few instances have an expression, and the library takes 4 MB.
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def is_valid_pattern(pattern: str) -> bool:
    """Return whether a text is a regular expression."""
    return _compiled(pattern) is not None


def matches_pattern(address: str, pattern: str | None) -> bool:
    """Return whether an expression is found in an address, ignoring case; none and an empty one never are."""
    compiled = _compiled(f"(?i){pattern}") if pattern else None
    return compiled is not None and compiled.search(address) is not None


def address_error(db: Connection, address: str) -> str | None:
    """Return why new users may not have an address; None if they may."""
    settings = cached_all_settings(db)
    if not _is_allowed_domain(settings, address):
        return "is not from an allowed domain"
    restricted = settings.email_restrictions_enabled and matches_pattern(address, settings.email_restrictions)
    return "is not allowed" if restricted else None


def _is_allowed_domain(settings: InstanceSettings, address: str) -> bool:
    """Return whether the domain of an address is allowed and not denied; ``*`` is a wildcard."""
    domain = address.rpartition("@")[2].lower()
    allowed = not settings.domain_whitelist or _matches_domain(domain, settings.domain_whitelist)
    denied = settings.domain_blacklist_enabled and _matches_domain(domain, settings.domain_blacklist)
    return allowed and not denied


def _matches_domain(domain: str, names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(domain, name.strip().lower().replace("[", "[[]").replace("?", "[?]")) for name in names)
