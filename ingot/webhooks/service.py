"""State changes of webhooks."""

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, delete, func, select

from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import Invalid, too_long_message
from ingot.core.outgoing.guard import SsrfGuard
from ingot.webhooks.branch_patterns import PatternError, compile_pattern
from ingot.webhooks.custom_templates import is_valid_template
from ingot.webhooks.outbox import queue_deliveries
from ingot.webhooks.params import CustomHeader, WriteHook
from ingot.webhooks.policy import redacted_url
from ingot.webhooks.queries import HookOwner, find_hook, lock_hook_row
from ingot.webhooks.tables import EVENT_FLAGS, DeliveryAttempt, Hook, hook_events, hooks
from ingot.webhooks.url_variables import UrlVariables, changes_server, parse_hook_url, validate_variables

MAX_HOOKS = 100
"""Limit per project, group and instance, since each one is called for every push."""
MAX_HEADERS = 20
MAX_SECRET_LENGTH = 1024
DELETED_AT_ONCE = 5000
SIGNING_PREFIX = "whsec_"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_INVALID_HEADER = re.compile(r"[\x00-\x1f\x7f]")
# Headers set by us, and headers that change how a request is parsed.
_RESERVED_HEADERS = {
    "host", "content-length", "content-type", "transfer-encoding", "connection", "user-agent", "accept",
    "accept-encoding", "authorization", "expect", "te", "trailer", "upgrade", "x-gitlab-event", "x-gitlab-token",
    "x-gitlab-event-uuid", "x-gitlab-webhook-uuid", "x-gitlab-instance", "idempotency-key", "webhook-id",
    "webhook-timestamp", "webhook-signature",
}  # fmt: skip
# Names in the specification and in older versions.
_ALIASES = {"wiki_events": "wiki_page_events", "build_events": "job_events"}
_DEFAULTS = {
    "project": {"push_events": True},
    "group": {"push_events": True},
    "system": {"repository_update_events": True},
}
# Secrets and health of the previous receiver are reset.
_FRESH = {"failures": 0, "disabled_until": None, "token": None, "signing_token": None, "custom_headers": None}
_COUNTS = {
    "project": select(func.count())
    .select_from(hooks)
    .where(hooks.c.project_id == bindparam("owner"), hooks.c.kind == "project"),
    "group": select(func.count())
    .select_from(hooks)
    .where(hooks.c.group_id == bindparam("owner"), hooks.c.kind == "group"),
    "system": select(func.count()).select_from(hooks).where(hooks.c.kind == "system", bindparam("owner") == 0),
}
_OLD = select(hook_events.c.id).where(hook_events.c.created_at < bindparam("before")).limit(DELETED_AT_ONCE)
_DELETE_OLD = delete(hook_events).where(hook_events.c.id.in_(_OLD.scalar_subquery()))


def create_hook(db: Connection, owner: HookOwner, params: WriteHook, guard: SsrfGuard) -> Hook:
    """Create a webhook; raise Invalid if the limit is reached."""
    _validate_branch_filter(params, "wildcard", None)
    db.lock(f"hooks of {owner.kind} {owner.id}")  # Without the lock, two concurrent requests could exceed the limit.
    if db.value(_COUNTS[owner.kind], owner=owner.id) >= MAX_HOOKS:
        raise Invalid(f"There can be at most {MAX_HOOKS} webhooks")
    variables = _variables(params, {})
    columns: dict[str, Any] = {
        "kind": owner.kind,
        "project_id": owner.id if owner.kind == "project" else None,
        "group_id": owner.id if owner.kind == "group" else None,
        "enable_ssl_verification": True,
        "branch_filter_strategy": "wildcard",
        **dict.fromkeys(EVENT_FLAGS, False),
        **_DEFAULTS[owner.kind],
        "failures": 0,
        "created_at": db.now,
        **_columns(db, params),
        **_address(db, params.url, variables, guard),
    }
    return find_hook(db, owner, db.insert(hooks, **columns))


def edit_hook(db: Connection, owner: HookOwner, hook: Hook, params: WriteHook, guard: SsrfGuard) -> Hook:
    """Update the fields that were sent; a new URL clears the secrets, which belong to the previous receiver."""
    hook = lock_hook_row(db, hook)
    _validate_branch_filter(params, hook.branch_filter_strategy, hook.push_events_branch_filter)
    columns = _columns(db, params)
    if params.url != redacted_url(hook.url, credentials=hook.credentials is not None):
        columns = {**_FRESH, **columns, **_address(db, params.url, _variables(params, {}), guard)}
    else:
        stored = _stored_variables(db, hook)
        columns = {**_variable_changes(db, hook, stored, _variables(params, stored), guard), **columns}
    db.update(hooks, hook.id, **columns)
    return find_hook(db, owner, hook.id)


def set_variable(db: Connection, hook: Hook, name: str, value: str | None, guard: SsrfGuard) -> None:
    """Set or delete a variable in a webhook's URL."""
    hook = lock_hook_row(db, hook)
    stored = _stored_variables(db, hook)
    variables = {each: text for each, text in stored.items() if each != name} | ({name: value} if value else {})
    validate_variables(variables)
    columns = _variable_changes(db, hook, stored, variables, guard)
    if columns:
        db.update(hooks, hook.id, **columns)


def set_header(db: Connection, hook: Hook, name: str, value: str | None) -> None:
    """Set or delete a custom header of a webhook."""
    hook = lock_hook_row(db, hook)
    stored = msgspec.json.decode(db.vault.unseal(hook.custom_headers)) if hook.custom_headers else []
    headers = [CustomHeader(key=each, value=text) for each, text in stored if each.lower() != name.lower()]
    if value is not None:
        headers.append(CustomHeader(key=name, value=value))
    db.update(hooks, hook.id, custom_headers=_sealed_headers(db, headers))


def delete_hook(db: Connection, hook: Hook) -> None:
    """Delete a webhook and its pending deliveries."""
    db.delete(hooks, hook.id)


def resend_event(db: Connection, hook: Hook, attempt: DeliveryAttempt) -> None:
    """Send an event to a webhook again."""
    queue_deliveries(db, attempt.event_id, [hook.id])
    retry_disabled_hook(db, hook)


def retry_disabled_hook(db: Connection, hook: Hook) -> None:
    """Enable a temporarily disabled webhook for a new attempt, at a user's request."""
    db.update(hooks, hook.id, disabled_until=None)


def delete_old_events(db: Connection, days: int) -> int:
    """Delete old events and their delivery attempts; pending deliveries of this age are dropped."""
    return db.run_counted(_DELETE_OLD, before=add_duration(db.now, days=-days))


def _columns(db: Connection, params: WriteHook) -> dict[str, Any]:
    columns = given_fields(params, "url", "token", "signing_token", "custom_headers", "url_variables", *_ALIASES)
    for alias, name in _ALIASES.items():
        value = getattr(params, alias)
        if value is not UNSET:
            columns[name] = value
    if params.token is not UNSET:
        columns["token"] = _sealed(db, "token", params.token)
    if params.signing_token is not UNSET:
        _validate_signing_token(params.signing_token or "")
        columns["signing_token"] = _sealed(db, "signing_token", params.signing_token)
    template = columns.get("custom_webhook_template")
    if template and not is_valid_template(template):
        raise Invalid(custom_webhook_template=["must be a valid JSON template"])
    if params.custom_headers is not UNSET:
        columns["custom_headers"] = _sealed_headers(db, params.custom_headers or [])
    return columns


def _address(db: Connection, url: str, variables: UrlVariables, guard: SsrfGuard) -> dict[str, Any]:
    plain, credentials = parse_hook_url(url, variables, guard)
    return {
        "url": plain,
        "credentials": db.vault.seal(credentials) if credentials else None,
        "url_variables": _sealed_variables(db, variables),
    }


def _variables(params: WriteHook, stored: UrlVariables) -> UrlVariables:
    """Return the variables that were sent, or else the stored ones."""
    if params.url_variables is UNSET:
        return stored
    sent = params.url_variables or []
    variables = {each.key: each.value for each in sent}
    if len(variables) < len(sent):
        raise Invalid(url_variables=["is invalid"])
    validate_variables(variables)
    return variables


def _stored_variables(db: Connection, hook: Hook) -> UrlVariables:
    variables: UrlVariables = msgspec.json.decode(db.vault.unseal(hook.url_variables)) if hook.url_variables else {}
    return variables


def _variable_changes(
    db: Connection, hook: Hook, before: UrlVariables, after: UrlVariables, guard: SsrfGuard
) -> dict[str, Any]:
    """Return the columns that change with the variables; if they change the server, the secrets are cleared."""
    if after == before:
        return {}
    parse_hook_url(hook.url, after, guard)
    cleared = {**_FRESH, "credentials": None} if changes_server(hook.url, before, after) else {}
    return {**cleared, "url_variables": _sealed_variables(db, after)}


def _sealed_variables(db: Connection, variables: UrlVariables) -> bytes | None:
    return db.vault.seal(msgspec.json.encode(variables).decode()) if variables else None


def _validate_branch_filter(params: WriteHook, strategy: str, branches: str | None) -> None:
    """Raise Invalid for an invalid regular expression; one half of the filter may be stored already."""
    if params.branch_filter_strategy is not UNSET:
        strategy = params.branch_filter_strategy
    if params.push_events_branch_filter is not UNSET:
        branches = params.push_events_branch_filter
    if strategy == "regex" and branches:
        try:
            compile_pattern(branches)
        except PatternError as error:
            raise Invalid(push_events_branch_filter=[f"is not a supported regular expression: {error}"]) from error


def _sealed(db: Connection, name: str, secret: str | None) -> bytes | None:
    if not secret:
        return None
    if len(secret) > MAX_SECRET_LENGTH:
        raise Invalid(**{name: [too_long_message(MAX_SECRET_LENGTH)]})
    if _INVALID_HEADER.search(secret):
        raise Invalid(**{name: ["is invalid"]})
    return db.vault.seal(secret)


def _validate_signing_token(secret: str) -> None:
    if secret.startswith(SIGNING_PREFIX):
        try:
            base64.b64decode(secret.removeprefix(SIGNING_PREFIX), validate=True)
        except (binascii.Error, ValueError) as error:
            raise Invalid(signing_token=["is invalid"]) from error


def _sealed_headers(db: Connection, params: Sequence[CustomHeader]) -> bytes | None:
    names = [header.key.lower() for header in params]
    is_malformed = any(
        not _HEADER_NAME.fullmatch(header.key) or _INVALID_HEADER.search(header.value) for header in params
    )
    if is_malformed or len(set(names)) < len(names) or len(names) > MAX_HEADERS or _RESERVED_HEADERS & set(names):
        raise Invalid(custom_headers=["is invalid"])
    pairs = [(header.key, header.value) for header in params]
    return db.vault.seal(msgspec.json.encode(pairs).decode()) if pairs else None
