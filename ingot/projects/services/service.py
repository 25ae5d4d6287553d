"""State changes of services."""

from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, select
from sqlalchemy import text as sql

from ingot.core.api.params import Params, given_fields
from ingot.core.db.connection import Connection
from ingot.core.events.bus import emit
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.urls import split_url
from ingot.errors import Invalid
from ingot.projects.projects.tables import Project
from ingot.projects.services.branches import validate_branch_choice
from ingot.projects.services.events import ServiceChanged
from ingot.projects.services.params import event_param_names
from ingot.projects.services.recipients import validate_recipients
from ingot.projects.services.registry import CONFIDENTIAL, EVENTS, FLAGS, Integration, Property
from ingot.projects.services.tables import Service, services

Values = dict[str, Any]
_DEFAULT_EVENTS = [name for name in FLAGS if name not in CONFIDENTIAL]
_ENSURE = sql(
    "INSERT INTO services (project_id, slug, active, events, properties, created_at, updated_at) "
    "VALUES (:project, :name, false, :events, '{}', :now, :now) ON CONFLICT (project_id, slug) DO NOTHING"
)
_FOR_UPDATE = (
    select(services)
    .where(services.c.project_id == bindparam("project"), services.c.slug == bindparam("name"))
    .with_for_update()
)


def set_service(
    db: Connection, project: Project, integration: Integration, params: Params, guard: SsrfGuard
) -> Service:
    """Create or change a project's service and activate it, unless the request says otherwise."""
    sent = given_fields(params)
    _validate_properties(integration, sent, guard)
    before = _lock_or_create(db, project, integration)
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
    columns: Values = {
        "active": True if sent.get("active", UNSET) is UNSET else bool(sent["active"]),
        "events": _encoded(_events(integration, before, sent)),
        "properties": _encoded(plain),
        "secrets": db.vault.seal(_encoded(secret)) if secret else None,
        "updated_at": db.now,
    }
    db.update(services, before.id, **columns)
    service = Service(
        id=before.id, project_id=project.id, slug=integration.slug, created_at=before.created_at, **columns
    )
    emit(db, ServiceChanged(service))
    return service


def delete_service(db: Connection, service: Service) -> None:
    """Delete a project's service with its settings and secrets."""
    db.delete(services, service.id)


def unseal_properties(db: Connection, service: Service) -> tuple[Values, Values]:
    """Return the plain and the decrypted secret properties of a service."""
    secret = msgspec.json.decode(db.vault.unseal(service.secrets)) if service.secrets else {}
    return msgspec.json.decode(service.properties), secret


def _lock_or_create(db: Connection, project: Project, integration: Integration) -> Service:
    """Return the row of a service, locked until the end of the transaction; create it if it does not exist."""
    key = {"project": project.id, "name": integration.slug}
    db.run(_ENSURE, **key, events=_encoded(_DEFAULT_EVENTS), now=db.now)
    service = db.first(Service, _FOR_UPDATE, **key)
    if service is None:
        raise RuntimeError("The row of a service disappeared after its insertion")
    return service


def _validate_properties(integration: Integration, sent: Values, guard: SsrfGuard) -> None:
    errors: dict[str, list[str]] = {}
    for definition in integration.properties:
        value = sent.get(definition.name)
        if definition.required and isinstance(value, str) and not value.strip():
            errors[definition.name] = ["can't be blank"]
        elif definition.address and value:
            reason = _url_error(definition, value, guard if integration.kind == "chat" else None)
            if reason:
                errors[definition.name] = [reason]
    if errors:
        raise Invalid(**errors)
    if integration.kind == "mail":
        validate_recipients(sent["recipients"])
    if integration.kind in ("mail", "chat") and sent.get("branches_to_be_notified"):
        validate_branch_choice(sent["branches_to_be_notified"])


def _url_error(each: Property, url: str, guard: SsrfGuard | None) -> str | None:
    """Return the reason why a URL is invalid, or None; URLs that we send requests to must pass the SSRF guard."""
    try:
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
