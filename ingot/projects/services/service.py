"""What changes services."""

from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, select
from sqlalchemy import text as sql

from ingot.core.api.params import Params, given_fields
from ingot.core.db.connection import Connection
from ingot.core.events.bus import emit
from ingot.core.outgoing.guard import OutgoingRequestBlocked, SsrfGuard
from ingot.core.outgoing.urls import parse_url
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
    """Connect a project to a service, or change how it is; what is only kept is never active."""
    sent = given_fields(params)
    _validate_properties(integration, sent, guard)
    before = _lock_or_create(db, project, integration)
    plain, secret = unseal_properties(db, before)
    named = {each.name: each for each in integration.properties}
    given_now = {name: value for name, value in sent.items() if name in named}
    if _changes_target(integration, plain, given_now):
        # The secrets of one receiver are not for another.
        secret = {}
    for name, value in given_now.items():
        kept = secret if named[name].secret else plain
        if value is None or value == "":
            kept.pop(name, None)
        else:
            kept[name] = value
    asked = True if sent.get("active", UNSET) is UNSET else bool(sent["active"])
    columns: Values = {
        "active": asked and integration.kind != "none",
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
    """Disconnect a project from a service; nothing of what it knew stays."""
    db.delete(services, service.id)


def unseal_properties(db: Connection, service: Service) -> tuple[Values, Values]:
    """What a service knows: what may be shown, and what must not."""
    secret = msgspec.json.decode(db.vault.unseal(service.secrets)) if service.secrets else {}
    return msgspec.json.decode(service.properties), secret


def _lock_or_create(db: Connection, project: Project, integration: Integration) -> Service:
    """The row, which is there from now on; whoever else changes it waits."""
    named = {"project": project.id, "name": integration.slug}
    db.run(_ENSURE, **named, events=_encoded(_DEFAULT_EVENTS), now=db.now)
    held = db.first(Service, _FOR_UPDATE, **named)
    if held is None:
        raise RuntimeError("A service that was just written is gone")
    return held


def _validate_properties(integration: Integration, sent: Values, guard: SsrfGuard) -> None:
    errors: dict[str, list[str]] = {}
    for each in integration.properties:
        value = sent.get(each.name)
        if each.required and isinstance(value, str) and not value.strip():
            errors[each.name] = ["can't be blank"]
        elif each.address and value:
            reason = _url_error(each, value, guard if integration.kind == "chat" else None)
            if reason:
                errors[each.name] = [reason]
    if errors:
        raise Invalid(**errors)
    if integration.kind == "mail":
        validate_recipients(sent["recipients"])
    if integration.kind in ("mail", "chat") and sent.get("branches_to_be_notified"):
        validate_branch_choice(sent["branches_to_be_notified"])


def _url_error(each: Property, url: str, guard: SsrfGuard | None) -> str | None:
    """Why an address does not do; where we send to it ourselves, only what the guard lets through does."""
    try:
        if guard is not None:
            guard.check_url(url)
        elif parse_url(url).userinfo is not None and not each.secret:
            return "must not hold a user name or password"
    except OutgoingRequestBlocked as error:
        return error.reason
    return None


def _changes_target(integration: Integration, known: Values, given_now: Values) -> bool:
    """Whether it is connected to another place than before."""
    places = [each.name for each in integration.properties if each.address and not each.secret]
    return any(name in given_now and (given_now[name] or None) != known.get(name) for name in places)


def _events(integration: Integration, before: Service, sent: Values) -> list[str]:
    chosen = set(msgspec.json.decode(before.events))
    for event in integration.events:
        for spelled in event_param_names(event):
            if spelled in sent:
                (chosen.add if sent[spelled] else chosen.discard)(EVENTS[event])
    return [name for name in FLAGS if name in chosen]


def _encoded(values: Any) -> str:
    return msgspec.json.encode(values).decode()
