"""Storage of webhooks of projects and groups, without the secrets, which no source reveals."""

from collections.abc import Sequence
from typing import Any

from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.urls import strip_credentials
from ingot.integrations.webhooks.branch_patterns import PatternError, compile_pattern
from ingot.integrations.webhooks.service import MAX_HOOKS
from ingot.integrations.webhooks.tables import EVENT_FLAGS, hooks
from ingot.transfers.records import HookRecord
from ingot.transfers.target.context import Change, StoreContext, StoredIds
from ingot.transfers.target.rows import insert_rows, rows_by_ids, update_rows
from ingot.transfers.target.text import limited

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
        columns = _columns(context, change.record)
        if columns is None:
            ids[change.key] = None
        elif change.local_id in known:
            ids[change.key] = change.local_id
            updated.append((change.local_id or 0, columns))
        else:
            inserted[change.key] = {**_new_hook(context), **columns}
            context.problem(f"The webhook {columns['url']} was imported without its secret token and custom headers.")
    update_rows(db, hooks, updated)
    return ids | dict(zip(inserted, insert_rows(db, hooks, list(inserted.values())), strict=True))


def _new_hook(context: StoreContext) -> dict[str, Any]:
    return {
        "kind": "project",
        "project_id": context.project.id,
        "group_id": None,
        "failures": 0,
        "created_at": context.db.now,
    }


def _columns(context: StoreContext, record: HookRecord) -> dict[str, Any] | None:
    try:
        url, username, password = strip_credentials(record.url)
    except RequestRefused as error:
        context.problem(f"A webhook was omitted: {error.reason}.")
        return None
    if "{" in url:
        context.problem(f"The webhook {url} was omitted: the values of the variables in its URL are not known.")
        return None
    strategy = record.branch_filter_strategy if record.branch_filter_strategy in _STRATEGIES else "wildcard"
    branches = limited(record.push_events_branch_filter or "", _MAX_TEXT) or None
    if strategy == "regex" and branches and not _is_pattern(branches):
        context.problem(f"The branch filter of the webhook {url} is not supported, so it is called for all branches.")
        branches = None
    events = {_EVENT_ALIASES.get(name, name) for name in record.events}
    return {
        "url": url,
        "credentials": context.db.vault.seal(f"{username}:{password}") if username or password else None,
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
