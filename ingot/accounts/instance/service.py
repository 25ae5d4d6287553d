"""State changes of the instance settings and broadcast messages."""

import re
from collections.abc import Collection
from ipaddress import ip_network
from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import select

from ingot.accounts.instance.all_settings import AllSettings, decode_all_settings
from ingot.accounts.instance.branch_protection import protection_changes
from ingot.accounts.instance.email_restrictions import is_valid_pattern
from ingot.accounts.instance.limit_settings import SEPARATED_LISTS, limit_errors
from ingot.accounts.instance.params import CreateBroadcastMessage, ModifySettings, UpdateBroadcastMessage
from ingot.accounts.instance.queries import find_broadcast_message
from ingot.accounts.instance.settings import (
    SettingTimestamps,
    admin_second_factor_required_since,
    second_factor_required_since,
    stored_settings,
    terms_changed_at,
)
from ingot.accounts.instance.tables import BroadcastMessage, StoredSettings, broadcast_messages, instance_settings
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Invalid
from ingot.git.core.names import ref_name_error

# Locks the row, so that concurrent changes do not overwrite each other; SQLite has a single writer anyway.
_FOR_UPDATE = select(instance_settings.c.id).where(instance_settings.c.id == 1).with_for_update()
_ALIASES = {
    "asset_proxy_whitelist": "asset_proxy_allowlist",
    "domain_allowlist": "domain_whitelist",
    "domain_denylist": "domain_blacklist",
    "domain_denylist_enabled": "domain_blacklist_enabled",
    "password_authentication_enabled_for_web": "signin_enabled",
}
_REQUIRED_TOGETHER = {
    "domain_blacklist_enabled": "domain_blacklist",
    "email_restrictions_enabled": "email_restrictions",
    "enforce_terms": "terms",
    "require_two_factor_authentication": "two_factor_grace_period",
}
_PATTERNS = ("email_restrictions", "user_default_internal_regex")
_DOMAINS = ("domain_whitelist", "domain_blacklist")
_LINKS = ("home_page_url", "help_page_support_url", "custom_http_clone_url_root")
_FULL_WEIGHT = 100
_SIGN_IN_SOURCES = frozenset({"openid_connect"})
_SEPARATORS = re.compile(r"[\s,;]+")
_DOMAIN = re.compile(r"[^\s@/]{1,255}")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,198}[A-Za-z0-9])?")
_LINK = re.compile(r"https?://[^\s\"'<>/?#]+([/?#][^\s\"'<>]*)?", re.IGNORECASE)
_PATH = re.compile(r"/(?![/\\])[^\s\"'<>]*")
_UNIT = r"(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?|mos?|months?|y|yrs?|years?)"
_DURATION = re.compile(rf"never|\d{{1,9}}\s*{_UNIT}?(\s*(,|and)?\s*\d{{1,9}}\s*{_UNIT})*")
_TOKEN_PREFIX = re.compile(r"[a-zA-Z0-9_+=/@:.-]*")
_AT_LEAST_A_DAY = re.compile(r"[1-9]\d*\s*(d|w|mo|y)")
_COLOR = re.compile(r"#([0-9A-Fa-f]{3}){1,2}")
COLOR, FONT = "#E75E40", "#FFFFFF"


def modify_settings(db: Connection, params: ModifySettings, storages: Collection[str] = ("default",)) -> StoredSettings:
    """Change the given settings, or none if any is invalid; only values that differ from the defaults are stored.

    ``storages`` are the names of the repository storages.
    """
    db.value(_FOR_UPDATE)
    stored = stored_settings(db)
    settings = decode_all_settings(stored)
    changes = _setting_changes(given_fields(params), settings)
    _require_dependencies(changes, stored)
    changed = msgspec.structs.replace(settings, **changes)
    _validate_settings(changed, storages)
    changed = _with_storages(changed, settings)
    if changed != settings:
        document = _differences(changed, _requirement_timestamps(settings, changed, stored, db.now))
        db.update(instance_settings, stored.id, document=document, updated_at=db.now)
    return stored_settings(db)


def create_broadcast_message(db: Connection, params: CreateBroadcastMessage) -> BroadcastMessage:
    """Create a broadcast message."""
    starts_at = db.now if params.starts_at is UNSET else params.starts_at
    columns = {
        "starts_at": starts_at,
        "ends_at": _an_hour_after(max(starts_at, db.now)) if params.ends_at is UNSET else params.ends_at,
        "color": COLOR,
        "font": FONT,
        **_broadcast_columns(params),
    }
    return find_broadcast_message(db, db.insert(broadcast_messages, **columns))


def update_broadcast_message(
    db: Connection, message: BroadcastMessage, params: UpdateBroadcastMessage
) -> BroadcastMessage:
    """Change the given fields of a broadcast message."""
    db.update(broadcast_messages, message.id, **_broadcast_columns(params))
    return find_broadcast_message(db, message.id)


def delete_broadcast_message(db: Connection, message: BroadcastMessage) -> None:
    """Delete a broadcast message."""
    db.delete(broadcast_messages, message.id)


def _setting_changes(given: dict[str, Any], settings: AllSettings) -> dict[str, Any]:
    """Return the given settings by their primary names.

    A client that sends the whole object back includes both names of a setting; the value that differs from the stored
    one counts.
    """
    values = {name: _setting(name, value) for name, value in given.items()}
    for alias, name in _ALIASES.items():
        if alias in values:
            value = values.pop(alias)
            if values.get(name, getattr(settings, name)) == getattr(settings, name):
                values[name] = value
    values |= protection_changes(settings.default_branch_protection_defaults, values)
    mode, sends = values.get("email_confirmation_setting"), values.get("send_user_confirmation_email")
    if mode not in (None, settings.email_confirmation_setting):
        values["send_user_confirmation_email"] = mode != "off"
    elif sends not in (None, settings.send_user_confirmation_email):
        values["email_confirmation_setting"] = "hard" if sends else "off"
    return values


def _with_storages(changed: AllSettings, settings: AllSettings) -> AllSettings:
    """Return the changed settings whose names of storages and weights agree; changed weights count first."""
    weights, names = changed.repository_storages_weighted, changed.repository_storages
    if weights == settings.repository_storages_weighted:
        if names == settings.repository_storages and changed.repository_storage != settings.repository_storage:
            names = (changed.repository_storage,)
        if names == settings.repository_storages:
            return changed
        unused = {name: 0 for name in weights if name not in names}
        weights = {name: weights.get(name) or _FULL_WEIGHT for name in names} | unused
    elif used := tuple(name for name, weight in weights.items() if weight):
        names = used
    return msgspec.structs.replace(
        changed, repository_storages_weighted=weights, repository_storages=names, repository_storage=names[0]
    )


def _setting(name: str, value: Any) -> Any:
    primary = _ALIASES.get(name, name)
    if primary == "enabled_git_access_protocol" and value in ("nil", "all"):
        return None
    if primary == "terms":
        return value or None
    if value is None and isinstance(getattr(AllSettings(), primary), tuple):
        return ()
    if isinstance(value, list):
        # Clients also send a list of domains as one text with a domain per line.
        parts = _SEPARATORS.split("\n".join(value)) if primary in (*_DOMAINS, *SEPARATED_LISTS) else value
        return tuple(dict.fromkeys(part for part in parts if part))
    return value


def _require_dependencies(changes: dict[str, Any], stored: StoredSettings) -> None:
    """Raise Invalid if a setting is enabled without the setting that it requires, sent now or stored before."""
    settings = decode_all_settings(stored)
    document = msgspec.json.decode(stored.document, type=dict[str, Any])
    for flag, companion in _REQUIRED_TOGETHER.items():
        newly_enabled = changes.get(flag) and not getattr(settings, flag)
        if newly_enabled and companion not in changes and companion not in document:
            raise Invalid(f'400 (Bad request) "{companion}" not given')


def _validate_settings(settings: AllSettings, storages: Collection[str]) -> None:
    """Raise Invalid with all reasons at once."""
    errors = limit_errors(settings)
    for name in _LINKS:
        link = getattr(settings, name)
        if link and not (link.isprintable() and _LINK.fullmatch(link)):
            errors[name] = ["must be a valid URL"]
    sign_out = settings.after_sign_out_path
    if sign_out and not (sign_out.isprintable() and _PATH.fullmatch(sign_out)):
        # The policy of the pages (form-action) keeps browsers from following the form to another host.
        errors["after_sign_out_path"] = ["must be a path of this server"]
    if not all(map(_is_network, (settings.globally_allowed_ips or "").split(","))):
        errors["globally_allowed_ips"] = ["must be a valid IPv4 or IPv6 address"]
    if settings.commit_email_hostname and not _HOST.fullmatch(settings.commit_email_hostname):
        errors["commit_email_hostname"] = ["is invalid"]
    if settings.default_branch_name and ref_name_error(settings.default_branch_name):
        # Otherwise no project could be created.
        errors["default_branch_name"] = ["is invalid"]
    if not _DURATION.fullmatch(settings.default_artifacts_expire_in.strip().lower()):
        errors["default_artifacts_expire_in"] = ["is not a correct duration"]
    archive = settings.archive_builds_in_human_readable
    if archive and (not _DURATION.fullmatch(archive.strip().lower()) or not _AT_LEAST_A_DAY.search(archive.lower())):
        errors["archive_builds_in_human_readable"] = ["must be a duration of at least one day"]
    for name in _DOMAINS:
        if not all(_DOMAIN.fullmatch(domain) for domain in getattr(settings, name)):
            errors[name] = ["is invalid"]
    unknown = sorted({settings.repository_storage, *settings.repository_storages} - set(storages))
    if unknown or not settings.repository_storages:
        errors["repository_storages"] = [f"can't include: {', '.join(unknown)}" if unknown else "can't be blank"]
    unknown_weights = sorted(settings.repository_storages_weighted.keys() - set(storages))
    if unknown_weights:
        errors["repository_storages_weighted"] = [f"can't include: {', '.join(unknown_weights)}"]
    unknown_sources = [source for source in settings.disabled_oauth_sign_in_sources if source not in _SIGN_IN_SOURCES]
    if unknown_sources:
        errors["disabled_oauth_sign_in_sources"] = [f"'{unknown_sources[0]}' is not an OAuth sign-in source"]
    for name in _PATTERNS:
        pattern = getattr(settings, name)
        if pattern and not is_valid_pattern(pattern):
            errors[name] = ["is not a valid regular expression"]
    if settings.inactive_projects_send_warning_email_after_months >= settings.inactive_projects_delete_after_months:
        errors["inactive_projects_send_warning_email_after_months"] = ["must be less than the months until deletion"]
    if not _TOKEN_PREFIX.fullmatch(settings.personal_access_token_prefix or ""):
        errors["personal_access_token_prefix"] = ["is invalid"]
    for flag, companion in _REQUIRED_TOGETHER.items():
        if getattr(settings, flag) and getattr(settings, companion) in (None, "", ()):
            errors[companion] = ["can't be blank"]
    if errors:
        raise Invalid(**errors)


def _is_network(text: str) -> bool:
    """Return whether an entry of a list of networks is valid; one that is empty is."""
    try:
        return not text.strip() or bool(ip_network(text.strip(), strict=False))
    except ValueError:
        return False


def _requirement_timestamps(
    before: AllSettings, after: AllSettings, stored: StoredSettings, now: Timestamp
) -> SettingTimestamps:
    """Return since when two-factor authentication is required, and the terms apply; other changes do not restart it."""
    of_users, of_administrators = None, None
    if after.require_two_factor_authentication:
        of_users = second_factor_required_since(stored) if before.require_two_factor_authentication else now
    if after.require_admin_two_factor_authentication:
        required_before = before.require_admin_two_factor_authentication
        of_administrators = admin_second_factor_required_since(stored) if required_before else now
    terms_updated_at = now if after.terms != before.terms else terms_changed_at(stored)
    return SettingTimestamps(of_users, of_administrators, terms_updated_at)


def _differences(settings: AllSettings, timestamps: SettingTimestamps) -> str:
    defaults = AllSettings()
    values = msgspec.structs.asdict(settings)
    differing = {name: value for name, value in values.items() if value != getattr(defaults, name)}
    return msgspec.json.encode({**differing, **msgspec.to_builtins(timestamps)}).decode()


def _an_hour_after(starts_at: Timestamp) -> Timestamp:
    try:
        return add_duration(starts_at, hours=1)
    except OverflowError as error:
        raise Invalid(starts_at=["is invalid"]) from error


def _broadcast_columns(params: CreateBroadcastMessage | UpdateBroadcastMessage) -> dict[str, Any]:
    """Return the columns to write; an empty color resets to the default."""
    columns = given_fields(params)
    errors: dict[str, list[str]] = {}
    if "message" in columns and not columns["message"].strip():
        errors["message"] = ["can't be blank"]
    for name, default in (("color", COLOR), ("font", FONT)):
        if name in columns:
            columns[name] = columns[name] or default
            if not _COLOR.fullmatch(columns[name]):
                errors[name] = ["must be a valid color code"]
    if errors:
        raise Invalid(**errors)
    return columns
