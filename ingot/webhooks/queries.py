"""Queries of webhooks and their delivery attempts."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, case, func, literal, literal_column, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import without_index
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.namespaces.tables import namespace_tree
from ingot.webhooks.delivery.tables import hook_deliveries
from ingot.webhooks.inherited_services import ANCESTORS_OF_PROJECT, INHERITED_BY_PROJECT
from ingot.webhooks.tables import (
    DeliveryAttempt,
    Hook,
    HookKind,
    hook_attempts,
    hook_events,
    hooks,
)

# A literal, since partial indexes match only literal conditions.
SYSTEM = hooks.c.kind == literal_column("'system'")
_OWNED: dict[HookKind, ColumnElement[bool]] = {
    # A service's hook has a project or group too, but is managed by the service.
    "project": (hooks.c.project_id == bindparam("owner")) & (hooks.c.kind == "project"),
    "group": (hooks.c.group_id == bindparam("owner")) & (hooks.c.kind == "group"),
    "system": SYSTEM,
    "service": hooks.c.service_id == bindparam("owner"),
}
_LISTS = {kind: list_query(select(hooks).where(own), hooks.c.id, hooks.c.id.asc()) for kind, own in _OWNED.items()}
_BY_ID = {kind: select(hooks).where(own, hooks.c.id == bindparam("hook")) for kind, own in _OWNED.items()}
_FOR_UPDATE = select(hooks).where(hooks.c.id == bindparam("hook")).with_for_update()
_SUBSCRIBED_COLUMNS = (
    hooks.c.id,
    hooks.c.kind,
    hooks.c.branch_filter_strategy,
    hooks.c.push_events_branch_filter,
    hooks.c.push_events,
    hooks.c.tag_push_events,
    hooks.c.repository_update_events,
)
_ALL_SYSTEM = select(*_SUBSCRIBED_COLUMNS).where(SYSTEM).order_by(hooks.c.id)
MAX_ATTEMPTS_SHOWN = 256 * 1024
"""Larger payloads are left out of the log, since a page may contain a hundred of them."""
_SHOWN = case(
    (func.length(hook_events.c.payload) > MAX_ATTEMPTS_SHOWN, literal('{"oversize":true}')), else_=hook_events.c.payload
).label("shown")
_ATTEMPTS = (
    select(*hook_attempts.c, hook_events.c.id.label("event"), hook_events.c.trigger, _SHOWN)
    .join(hook_deliveries, hook_deliveries.c.id == hook_attempts.c.delivery_id)
    .join(hook_events, hook_events.c.id == hook_deliveries.c.event_id)
    .where(hook_attempts.c.hook_id == bindparam("hook"))
)
_ATTEMPT = _ATTEMPTS.where(hook_attempts.c.id == bindparam("attempt"))
_NEW_DELIVERIES = (
    select(hook_deliveries.c.id)
    .where(
        hook_deliveries.c.hook_id == bindparam("hook"),
        hook_deliveries.c.state == literal_column("'waiting'"),
        hook_deliveries.c.attempts == 0,
    )
    .limit(1)
)
_FAMILIES = {"successful": (200, 300), "client_failure": (400, 500), "server_failure": (500, 600)}


class HookOwner(NamedTuple):
    """Owner of webhooks: a project, a group, or the instance (without id)."""

    kind: HookKind
    id: int = 0


class SubscribedHook(NamedTuple):
    """A webhook that may be subscribed to an event."""

    id: int
    kind: HookKind
    branch_filter_strategy: str
    push_events_branch_filter: str | None
    push_events: bool
    tag_push_events: bool
    repository_update_events: bool


def _values(owner: HookOwner) -> dict[str, Any]:
    return {} if owner.kind == "system" else {"owner": owner.id}


def list_hooks(db: Connection, owner: HookOwner, page: Page) -> Listing[Hook]:
    """List a page of an owner's webhooks."""
    return fetch_page(db, Hook, _LISTS[owner.kind], page, **_values(owner))


def hook_or_none(db: Connection, owner: HookOwner, hook_id: int) -> Hook | None:
    """Return an owner's webhook, if it exists."""
    return db.first(Hook, _BY_ID[owner.kind], hook=hook_id, **_values(owner))


def find_hook(db: Connection, owner: HookOwner, hook_id: int) -> Hook:
    """Return an owner's webhook; raise NotFound otherwise."""
    hook = hook_or_none(db, owner, hook_id)
    if hook is None:
        raise NotFound("Hook")
    return hook


def lock_hook_row(db: Connection, hook: Hook) -> Hook:
    """Lock and reload a webhook; raise NotFound if it has been deleted."""
    current = db.first(Hook, _FOR_UPDATE, hook=hook.id)
    if current is None:
        raise NotFound("Hook")
    return current


# Without the index, which would find the webhooks of all other groups and projects as well.
_SERVICE_ID = without_index(hooks.c.service_id)
_OF_PROJECT_OR_ANCESTORS = (
    hooks.c.project_id == bindparam("project"),
    hooks.c.group_id.in_(ANCESTORS_OF_PROJECT.scalar_subquery())
    & (_SERVICE_ID.is_(None) | _SERVICE_ID.in_(INHERITED_BY_PROJECT.scalar_subquery())),
)
_ANY_PUSH = or_(hooks.c.push_events, hooks.c.tag_push_events, SYSTEM & hooks.c.repository_update_events)
_PUSH_SUBSCRIBED = (
    select(*_SUBSCRIBED_COLUMNS).where(or_(*_OF_PROJECT_OR_ANCESTORS, SYSTEM), _ANY_PUSH).order_by(hooks.c.id)
)


@lru_cache(maxsize=256)
def _subscribed_query(flag: str, system: bool) -> Select[Any]:
    where = or_(*_OF_PROJECT_OR_ANCESTORS, SYSTEM) if system else or_(*_OF_PROJECT_OR_ANCESTORS)
    return select(*_SUBSCRIBED_COLUMNS).where(where, hooks.c[flag]).order_by(hooks.c.id)


def subscribed_hooks(db: Connection, flag: str, project_id: int, *, system: bool = False) -> list[SubscribedHook]:
    """Return the subscribed webhooks of a project and its ancestor groups; with ``system`` also system hooks."""
    return [SubscribedHook(*row) for row in db.rows(_subscribed_query(flag, system), project=project_id)]


@lru_cache(maxsize=16)
def _subscribed_in_group_query(flag: str) -> Select[Any]:
    groups = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("group"))
    return select(hooks.c.id).where(hooks.c.group_id.in_(groups.scalar_subquery()), hooks.c[flag]).order_by(hooks.c.id)


def subscribed_group_hooks(db: Connection, flag: str, group_id: int) -> list[int]:
    """Return the ids of the subscribed webhooks of a group and its ancestors."""
    return [hook_id for (hook_id,) in db.rows(_subscribed_in_group_query(flag), group=group_id)]


def push_subscribed_hooks(db: Connection, project_id: int) -> list[SubscribedHook]:
    """Return the webhooks subscribed to any kind of push event of a project."""
    return [SubscribedHook(*row) for row in db.rows(_PUSH_SUBSCRIBED, project=project_id)]


def subscribed_to_all_pushes(hook: Hook) -> SubscribedHook:
    """Return a webhook as if it were subscribed to all branch and tag pushes."""
    return SubscribedHook(hook.id, hook.kind, "all_branches", None, True, True, False)


def subscribed_system_hooks(db: Connection) -> list[SubscribedHook]:
    """Return the system hooks."""
    return [SubscribedHook(*row) for row in db.rows(_ALL_SYSTEM)]


@lru_cache(maxsize=256)
def _attempts(filters: frozenset[str]) -> ListQuery:
    matching = _ATTEMPTS
    if "family" in filters:
        matching = matching.where(
            hook_attempts.c.status >= bindparam("lowest"), hook_attempts.c.status < bindparam("beyond")
        )
    if "status" in filters:
        matching = matching.where(hook_attempts.c.status == bindparam("code"))
    if "error" in filters:
        matching = matching.where(hook_attempts.c.status.is_(None))
    return list_query(matching, hook_attempts.c.id, hook_attempts.c.id.desc())


def list_attempts(db: Connection, hook: Hook, status: str | int | None, page: Page) -> Listing[DeliveryAttempt]:
    """List a page of a webhook's delivery attempts, newest first, optionally by response status or its family."""
    values: dict[str, Any] = {"hook": hook.id}
    filters: set[str] = set()
    if isinstance(status, int):
        filters.add("status")
        values["code"] = status
    elif status == "internal error":
        filters.add("error")
    elif status is not None:
        filters.add("family")
        values["lowest"], values["beyond"] = _FAMILIES[status]
    return fetch_page(db, DeliveryAttempt, _attempts(frozenset(filters)), page, **values)


def has_new_deliveries(db: Connection, hook_id: int) -> bool:
    """Return whether a delivery is queued that has not been attempted yet."""
    return bool(db.rows(_NEW_DELIVERIES, hook=hook_id))


def find_attempt(db: Connection, hook: Hook, attempt_id: int) -> DeliveryAttempt:
    """Return a webhook's delivery attempt; raise NotFound otherwise."""
    attempt = db.first(DeliveryAttempt, _ATTEMPT, hook=hook.id, attempt=attempt_id)
    if attempt is None:
        raise NotFound("Hook Event")
    return attempt


def hook_ids(subscribed: Sequence[SubscribedHook]) -> list[int]:
    """Return the ids of webhooks."""
    return [each.id for each in subscribed]
