"""What changes hooks."""

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, delete, func, select

from ingot.api.params import given
from ingot.db.connection import Connection
from ingot.db.times import later
from ingot.errors import Invalid, too_long
from ingot.hooks.addressing import Variables, address_of, leads_elsewhere, refuse_unfit
from ingot.hooks.outbox import assign
from ingot.hooks.params import CustomHeader, WriteHook
from ingot.hooks.patterns import PatternError, pattern_of
from ingot.hooks.policy import shown_url
from ingot.hooks.queries import Owner, find_hook, hold_hook
from ingot.hooks.tables import FLAGS, Attempt, Hook, hook_events, hooks
from ingot.outgoing.guard import Guard

MOST_HOOKS = 100
"""Of one project, one group, or the instance: each of them is told of every push."""
MOST_HEADERS = 20
LONGEST_SECRET = 1024
DROPPED_AT_ONCE = 5000
SIGNING_PREFIX = "whsec_"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_UNFIT = re.compile(r"[\x00-\x1f\x7f]")
# What we say ourselves, and what would change how the request is read.
_OUR_HEADERS = {
    "host", "content-length", "content-type", "transfer-encoding", "connection", "user-agent", "accept",
    "accept-encoding", "authorization", "expect", "te", "trailer", "upgrade", "x-gitlab-event", "x-gitlab-token",
    "x-gitlab-event-uuid", "x-gitlab-webhook-uuid", "x-gitlab-instance", "idempotency-key", "webhook-id",
    "webhook-timestamp", "webhook-signature",
}  # fmt: skip
# As the specification and older versions name them.
_OTHER_NAMES = {"wiki_events": "wiki_page_events", "build_events": "job_events"}
_AT_FIRST = {
    "project": {"push_events": True},
    "group": {"push_events": True},
    "system": {"repository_update_events": True},
}
# What a hook has that was meant for the receiver before.
_FRESH = {"failures": 0, "disabled_until": None, "token": None, "signing_token": None, "custom_headers": None}
_COUNTS = {
    "project": select(func.count())
    .select_from(hooks)
    .where(hooks.c.project_id == bindparam("owner"), hooks.c.service_id.is_(None)),
    "group": select(func.count()).select_from(hooks).where(hooks.c.group_id == bindparam("owner")),
    "system": select(func.count()).select_from(hooks).where(hooks.c.kind == "system", bindparam("owner") == 0),
}
_OLD = select(hook_events.c.id).where(hook_events.c.created_at < bindparam("before")).limit(DROPPED_AT_ONCE)
_DROP_OLD = delete(hook_events).where(hook_events.c.id.in_(_OLD.scalar_subquery()))


def create_hook(db: Connection, owner: Owner, wanted: WriteHook, guard: Guard) -> Hook:
    """Add a hook."""
    _refuse_unfit_filter(wanted, "wildcard", None)
    db.lock(f"hooks of {owner.kind} {owner.id}")  # Else two at once would both be the last that may be added.
    if db.value(_COUNTS[owner.kind], owner=owner.id) >= MOST_HOOKS:
        raise Invalid(f"There can be {MOST_HOOKS} hooks at most")
    variables = _variables(wanted, {})
    columns: dict[str, Any] = {
        "kind": owner.kind,
        "project_id": owner.id if owner.kind == "project" else None,
        "group_id": owner.id if owner.kind == "group" else None,
        "enable_ssl_verification": True,
        "branch_filter_strategy": "wildcard",
        **dict.fromkeys(FLAGS, False),
        **_AT_FIRST[owner.kind],
        "failures": 0,
        "created_at": db.now,
        **_columns(db, wanted),
        **_address(db, wanted.url, variables, guard),
    }
    return find_hook(db, owner, db.insert(hooks, **columns))


def edit_hook(db: Connection, owner: Owner, hook: Hook, wanted: WriteHook, guard: Guard) -> Hook:
    """Change what was sent; the secrets of one receiver are not for another, so they go with the old URL."""
    hook = hold_hook(db, hook)
    _refuse_unfit_filter(wanted, hook.branch_filter_strategy, hook.push_events_branch_filter)
    columns = _columns(db, wanted)
    if wanted.url != shown_url(hook.url, credentials=hook.credentials is not None):
        columns = {**_FRESH, **columns, **_address(db, wanted.url, _variables(wanted, {}), guard)}
    else:
        kept = _kept_variables(db, hook)
        columns = {**_other_variables(db, hook, kept, _variables(wanted, kept), guard), **columns}
    db.update(hooks, hook.id, **columns)
    return find_hook(db, owner, hook.id)


def set_variable(db: Connection, hook: Hook, name: str, value: str | None, guard: Guard) -> None:
    """Let a name in braces in a hook's URL stand for something else, or for nothing."""
    hook = hold_hook(db, hook)
    kept = _kept_variables(db, hook)
    variables = {each: text for each, text in kept.items() if each != name} | ({name: value} if value else {})
    refuse_unfit(variables)
    columns = _other_variables(db, hook, kept, variables, guard)
    if columns:
        db.update(hooks, hook.id, **columns)


def set_header(db: Connection, hook: Hook, name: str, value: str | None) -> None:
    """Let every request of a hook carry a header, or not any more."""
    hook = hold_hook(db, hook)
    kept = msgspec.json.decode(db.vault.unseal(hook.custom_headers)) if hook.custom_headers else []
    headers = [CustomHeader(key=each, value=text) for each, text in kept if each.lower() != name.lower()]
    if value is not None:
        headers.append(CustomHeader(key=name, value=value))
    db.update(hooks, hook.id, custom_headers=_sealed_headers(db, headers))


def delete_hook(db: Connection, hook: Hook) -> None:
    """Remove a hook, with what it has still to tell."""
    db.delete(hooks, hook.id)


def resend(db: Connection, hook: Hook, attempt: Attempt) -> None:
    """Tell a hook once more what it was told."""
    assign(db, attempt.event_id, [hook.id])
    let_try(db, hook)


def let_try(db: Connection, hook: Hook) -> None:
    """Let a hook that is left alone be tried once, since somebody asks for it."""
    db.update(hooks, hook.id, disabled_until=None)


def drop_old_events(db: Connection, days: int) -> int:
    """Forget what was told long ago, with how that went; what could not be told by then is given up."""
    return db.run(_DROP_OLD, before=later(db.now, days=-days))


def _columns(db: Connection, wanted: WriteHook) -> dict[str, Any]:
    columns = given(wanted, "url", "token", "signing_token", "custom_headers", "url_variables", *_OTHER_NAMES)
    for other, name in _OTHER_NAMES.items():
        asked = getattr(wanted, other)
        if asked is not UNSET:
            columns[name] = asked
    if wanted.token is not UNSET:
        columns["token"] = _sealed(db, "token", wanted.token)
    if wanted.signing_token is not UNSET:
        _refuse_unfit_key(wanted.signing_token or "")
        columns["signing_token"] = _sealed(db, "signing_token", wanted.signing_token)
    if wanted.custom_headers is not UNSET:
        columns["custom_headers"] = _sealed_headers(db, wanted.custom_headers or [])
    return columns


def _address(db: Connection, url: str, variables: Variables, guard: Guard) -> dict[str, Any]:
    plain, credentials = address_of(url, variables, guard)
    return {
        "url": plain,
        "credentials": db.vault.seal(credentials) if credentials else None,
        "url_variables": _sealed_variables(db, variables),
    }


def _variables(wanted: WriteHook, kept: Variables) -> Variables:
    """What names in the URL stand for: what was sent, and else what was kept."""
    if wanted.url_variables is UNSET:
        return kept
    sent = wanted.url_variables or []
    variables = {each.key: each.value for each in sent}
    if len(variables) < len(sent):
        raise Invalid(url_variables=["is invalid"])
    refuse_unfit(variables)
    return variables


def _kept_variables(db: Connection, hook: Hook) -> Variables:
    variables: Variables = msgspec.json.decode(db.vault.unseal(hook.url_variables)) if hook.url_variables else {}
    return variables


def _other_variables(db: Connection, hook: Hook, before: Variables, after: Variables, guard: Guard) -> dict[str, Any]:
    """What changes with them under the same URL; where they lead to another server, the secrets go too."""
    if after == before:
        return {}
    address_of(hook.url, after, guard)
    gone = {**_FRESH, "credentials": None} if leads_elsewhere(hook.url, before, after) else {}
    return {**gone, "url_variables": _sealed_variables(db, after)}


def _sealed_variables(db: Connection, variables: Variables) -> bytes | None:
    return db.vault.seal(msgspec.json.encode(variables).decode()) if variables else None


def _refuse_unfit_filter(wanted: WriteHook, strategy: str, branches: str | None) -> None:
    """Refuse an expression that is none; of a filter, only one of its halves may be sent."""
    if wanted.branch_filter_strategy is not UNSET:
        strategy = wanted.branch_filter_strategy
    if wanted.push_events_branch_filter is not UNSET:
        branches = wanted.push_events_branch_filter
    if strategy == "regex" and branches:
        try:
            pattern_of(branches)
        except PatternError as error:
            raise Invalid(
                push_events_branch_filter=[f"is not a regular expression that can be used: {error}"]
            ) from error


def _sealed(db: Connection, name: str, secret: str | None) -> bytes | None:
    if not secret:
        return None
    if len(secret) > LONGEST_SECRET:
        raise Invalid(**{name: [too_long(LONGEST_SECRET)]})
    if _UNFIT.search(secret):
        raise Invalid(**{name: ["is invalid"]})
    return db.vault.seal(secret)


def _refuse_unfit_key(secret: str) -> None:
    if secret.startswith(SIGNING_PREFIX):
        try:
            base64.b64decode(secret.removeprefix(SIGNING_PREFIX), validate=True)
        except (binascii.Error, ValueError) as error:
            raise Invalid(signing_token=["is invalid"]) from error


def _sealed_headers(db: Connection, wanted: Sequence[CustomHeader]) -> bytes | None:
    names = [header.key.lower() for header in wanted]
    unfit = any(not _HEADER_NAME.fullmatch(header.key) or _UNFIT.search(header.value) for header in wanted)
    if unfit or len(set(names)) < len(names) or len(names) > MOST_HEADERS or _OUR_HEADERS & set(names):
        raise Invalid(custom_headers=["is invalid"])
    pairs = [(header.key, header.value) for header in wanted]
    return db.vault.seal(msgspec.json.encode(pairs).decode()) if pairs else None
