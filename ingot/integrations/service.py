"""State changes of services."""

import re
from collections.abc import Callable, Collection
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, select
from sqlalchemy import text as sql

from ingot.core.api.params import MissingParameter, Params, given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.core.events.bus import emit
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.urls import split_url
from ingot.integrations.branches import validate_branch_choice
from ingot.integrations.chat_requests import irc_channels
from ingot.integrations.events import ServiceChanged
from ingot.integrations.params import event_param_names
from ingot.integrations.queries import inherited_service_or_none, owner_kind, service_or_none
from ingot.integrations.recipients import validate_recipients
from ingot.integrations.registry import CONFIDENTIAL, EVENTS, FLAGS, Integration, Property
from ingot.integrations.requests import DEFAULTS
from ingot.integrations.tables import Service, ServiceParent, services

Values = dict[str, Any]
_VALID: dict[str, Callable[[Any], object]] = {
    "subdomain": re.compile(r"[A-Za-z0-9-]+").fullmatch,
    "server_host": re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]").fullmatch,
    "server_port": lambda port: 1 <= port <= 65535,
}
_DEFAULT_EVENTS = [name for name in FLAGS if name not in CONFIDENTIAL]
_ENSURE = sql(
    "INSERT INTO services (project_id, group_id, slug, active, events, properties, created_at, updated_at) "
    "VALUES (:project, :group, :name, false, :events, '{}', :now, :now) ON CONFLICT DO NOTHING"
)
_SLUG = services.c.slug == bindparam("name")
_OWN = {
    "project": _SLUG & (services.c.project_id == bindparam("project")),
    "group": _SLUG & (services.c.group_id == bindparam("group")),
}
_FOR_UPDATE = {kind: select(services).where(own).with_for_update() for kind, own in _OWN.items()}
_DELETE = {kind: delete(services).where(own) for kind, own in _OWN.items()}


def set_service(
    db: Connection, parent: ServiceParent, integration: Integration, params: Params, guard: SsrfGuard
) -> Service:
    """Create or change a service of a project or group and activate it, unless the request says otherwise."""
    sent = given_fields(params)
    if sent.get("use_inherited_settings"):
        return _inherit_service(db, parent, integration)
    before = _lock_or_create(db, parent, integration)
    plain, secret = unseal_properties(db, before)
    properties = {each.name: each for each in integration.properties}
    changes = {name: value for name, value in sent.items() if name in properties}
    if _changes_target(integration, plain, changes):
        # A project administrator could otherwise redirect stored secrets, which they may not read, to their own server.
        secret = {}
    for name, value in changes.items():
        stored = secret if properties[name].secret else plain
        if value is None or value == "":
            stored.pop(name, None)
        else:
            stored[name] = value
    _require_secrets(integration, secret.keys() | sent.keys())
    _validate_properties(integration, {**plain, **sent}, guard)
    columns: Values = {
        "active": integration.kind != "none" and sent.get("active", True) is not False,
        "events": _encoded(_events(integration, before, sent)),
        "properties": _encoded(plain),
        "secrets": db.vault.seal(_encoded(secret)) if secret else None,
        "updated_at": db.now,
    }
    db.update(services, before.id, **columns)
    service = msgspec.structs.replace(before, **columns)
    emit(db, ServiceChanged(service))
    return service


def delete_service(db: Connection, parent: ServiceParent, integration: Integration) -> None:
    """Delete a service with its settings and secrets; an inactive one keeps it from being inherited again."""
    _delete_own(db, parent, integration)
    if inherited_service_or_none(db, parent, integration.slug) is not None:
        _lock_or_create(db, parent, integration)


def unseal_properties(db: Connection, service: Service) -> tuple[Values, Values]:
    """Return the plain and the decrypted secret properties of a service."""
    secret = msgspec.json.decode(db.vault.unseal(service.secrets)) if service.secrets else {}
    return msgspec.json.decode(service.properties), secret


def setting_values(db: Connection, parent: ServiceParent, integration: Integration) -> Values:
    """Return the settings of a service that apply to a project or group, by name."""
    service = service_or_none(db, parent, integration.slug)
    defaults = {each.name: each.default for each in integration.properties if each.kind == "flag"}
    if service is None:
        return {**defaults, "active": False}
    plain, secret = unseal_properties(db, service)
    return {**defaults, **plain, **secret, "active": service.active, "events": msgspec.json.decode(service.events)}


def without_secrets(integration: Integration, before: Values, after: Values) -> tuple[Values, Values]:
    """Return the settings before and after a change by their names in audit events, which hold no secrets."""
    shown: tuple[Values, Values] = {}, {}
    for name in dict.fromkeys((*before, *after)):
        values = before.get(name), after.get(name)
        if name in integration.secrets:
            changed = values[0] != values[1]
            values = values[0] and "[secret]", values[1] and ("[new secret]" if changed else "[secret]")
        for record, value in zip(shown, values, strict=True):
            record[f"{integration.slug} {name}"] = value
    return shown


def _inherit_service(db: Connection, parent: ServiceParent, integration: Integration) -> Service:
    """Delete the own service of a project or group and return the one that it inherits then."""
    _delete_own(db, parent, integration)
    inherited = inherited_service_or_none(db, parent, integration.slug)
    if inherited is None:
        raise Invalid("No group above has this integration, so there are no settings to inherit")
    return inherited


def _delete_own(db: Connection, parent: ServiceParent, integration: Integration) -> None:
    kind = owner_kind(parent)
    db.run(_DELETE[kind], **{kind: parent.id}, name=integration.slug)


def _lock_or_create(db: Connection, parent: ServiceParent, integration: Integration) -> Service:
    """Return the row of an own service, locked until the end of the transaction; create it if it does not exist."""
    kind = owner_kind(parent)
    owner = {"project": None, "group": None, kind: parent.id}
    db.run(_ENSURE, **owner, name=integration.slug, events=_encoded(_DEFAULT_EVENTS), now=db.now)
    service = db.first(Service, _FOR_UPDATE[kind], **{kind: parent.id}, name=integration.slug)
    if service is None:
        raise RuntimeError("The row of a service disappeared after its insertion")
    return service


def _require_secrets(integration: Integration, given: Collection[str]) -> None:
    """Raise MissingParameter for the first required secret that is neither sent nor stored."""
    for each in integration.properties:
        if each.required and each.secret and each.name not in given:
            raise MissingParameter(each.name)


def _validate_properties(integration: Integration, sent: Values, guard: SsrfGuard) -> None:
    errors: dict[str, list[str]] = {}
    for definition in integration.properties:
        value = sent.get(definition.name)
        if definition.required and isinstance(value, str) and not value.strip():
            errors[definition.name] = ["can't be blank"]
        elif definition.address and (address := value or DEFAULTS.get(definition.name)):
            reason = _url_error(definition, address, guard if integration.sends_to_addresses else None)
            if reason:
                errors[definition.name] = [reason]
    for name, is_valid in _VALID.items():
        if sent.get(name) and not is_valid(sent[name]):
            errors.setdefault(name, ["is invalid"])
    if errors:
        raise Invalid(**errors)
    if integration.kind == "mail":
        validate_recipients(sent["recipients"])
    elif "recipients" in sent and not irc_channels(sent["recipients"], sent.get("default_irc_uri")):
        raise Invalid(recipients=["are all invalid"])
    if sent.get("branches_to_be_notified"):
        validate_branch_choice(sent["branches_to_be_notified"])


def _url_error(each: Property, url: str, guard: SsrfGuard | None) -> str | None:
    """Return the reason why a URL is invalid, or None; URLs that we send requests to must pass the SSRF guard."""
    try:
        if each.kind in ("server address", "host address") and "://" not in url:
            url = f"https://{url}"
        if guard is not None:
            guard.check_url(url)
        elif split_url(url).userinfo is not None and not each.secret:
            return "must not hold a user name or password"
    except RequestRefused as error:
        return error.reason
    return None


def _changes_target(integration: Integration, stored: Values, changes: Values) -> bool:
    """Check whether one of the service's public URLs changes."""
    url_names = [each.name for each in integration.properties if each.address and not each.secret]
    return any(name in changes and (changes[name] or None) != stored.get(name) for name in url_names)


def _events(integration: Integration, before: Service, sent: Values) -> list[str]:
    chosen = set(msgspec.json.decode(before.events))
    for event in integration.events:
        for name in event_param_names(event):
            if name in sent:
                (chosen.add if sent[name] else chosen.discard)(EVENTS[event])
    return [flag for flag in FLAGS if flag in chosen]


def _encoded(values: Any) -> str:
    return msgspec.json.encode(values).decode()
