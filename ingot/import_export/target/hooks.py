"""Storage of webhooks of projects and groups, without the secrets, which no source reveals."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ingot.core.db.connection import Connection
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.urls import strip_credentials
from ingot.import_export.records import HookRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import insert_rows, moment, rows_by_ids, update_rows
from ingot.import_export.target.text import limited
from ingot.webhooks.branch_patterns import PatternError, compile_pattern
from ingot.webhooks.service import MAX_HOOKS
from ingot.webhooks.tables import EVENT_FLAGS, hooks

_MAX_TEXT = 255
_MAX_DESCRIPTION = 2048
_STRATEGIES = ("wildcard", "regex", "all_branches")
_EVENT_ALIASES = {"wiki_events": "wiki_page_events", "build_events": "job_events"}


def store_hooks(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store webhooks; their secret tokens must be entered again, which the report says."""
    db = context.db
    known = rows_by_ids(db, hooks, {change.local_id for change in changes if change.local_id}, "id")
    ids: dict[str, int | None] = {}
    inserted: dict[str, dict[str, Any]] = {}
    updated: list[tuple[int, dict[str, Any]]] = []
    for change in changes[:MAX_HOOKS]:
        columns = hook_columns(db, change.record, context.problem)
        if columns is None:
            ids[change.key] = None
        elif change.local_id in known:
            ids[change.key] = change.local_id
            updated.append((change.local_id or 0, columns))
        else:
            created_at = moment(change.record.created_at, db.now)
            inserted[change.key] = {**new_hook(db, "project", context.project.id), "created_at": created_at, **columns}
            context.problem(missing_secret(columns["url"]))
    update_rows(db, hooks, updated)
    return ids | dict(zip(inserted, insert_rows(db, hooks, list(inserted.values())), strict=True))


def missing_secret(url: str) -> str:
    """Return the sentence of the report about a new webhook."""
    return f"The webhook {url} was imported without its secret token and custom headers."


def new_hook(db: Connection, kind: Literal["project", "group"], owner_id: int) -> dict[str, Any]:
    """Return the columns of a new webhook that its record does not set."""
    return {
        "kind": kind,
        "project_id": owner_id if kind == "project" else None,
        "group_id": owner_id if kind == "group" else None,
        "failures": 0,
        "created_at": db.now,
    }


def hook_columns(db: Connection, record: HookRecord, problem: Callable[[str], None]) -> dict[str, Any] | None:
    """Return the columns of a webhook, or None if it cannot be called."""
    try:
        url, username, password = strip_credentials(record.url)
    except RequestRefused as error:
        problem(f"A webhook was omitted: {error.reason}.")
        return None
    if "{" in url:
        problem(f"The webhook {url} was omitted: the values of the variables in its URL are not known.")
        return None
    strategy = record.branch_filter_strategy if record.branch_filter_strategy in _STRATEGIES else "wildcard"
    branches = limited(record.push_events_branch_filter or "", _MAX_TEXT) or None
    if strategy == "regex" and branches and not _is_pattern(branches):
        problem(f"The branch filter of the webhook {url} is not supported, so it is called for all branches.")
        branches = None
    events = {_EVENT_ALIASES.get(name, name) for name in record.events}
    return {
        "url": url,
        "credentials": db.vault.seal(f"{username}:{password}") if username or password else None,
        "name": limited(record.name or "", _MAX_TEXT) or None,
        "description": limited(record.description or "", _MAX_DESCRIPTION) or None,
        "enable_ssl_verification": record.enable_ssl_verification,
        "push_events_branch_filter": branches,
        "branch_filter_strategy": strategy,
        **{flag: flag in events for flag in EVENT_FLAGS},
    }


def _is_pattern(text: str) -> bool:
    try:
        compile_pattern(text)
    except PatternError:
        return False
    return True
