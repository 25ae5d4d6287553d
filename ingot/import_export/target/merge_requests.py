"""Storage of merge requests with their reviewers, approvals, versions and closed issues."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, select

from ingot.collaboration.issues.tables import issues
from ingot.collaboration.merge_requests.draft_titles import add_draft_prefix
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.review_states import store_reviews
from ingot.collaboration.merge_requests.service import add_to_merge_request_counts
from ingot.collaboration.merge_requests.tables import (
    merge_request_approvals,
    merge_request_assignees,
    merge_request_closings,
    merge_request_reviewers,
    merge_requests,
)
from ingot.collaboration.planning.service import MAX_TITLE
from ingot.core.db.expressions import in_list
from ingot.core.markup.references import can_mention_issues, closing_references, full_project_path
from ingot.git.history.commits import NO_OID
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.iids import IidSequence, assign_iids
from ingot.import_export.target.notes import DiscussedSubject, store_discussions
from ingot.import_export.target.preparation import PreparedMergeRequest
from ingot.import_export.target.rows import (
    Relation,
    insert_rows,
    moment,
    moment_or_none,
    replace_rows,
    rows_by_ids,
    rows_by_values,
    update_rows,
)
from ingot.import_export.target.versions import store_versions
from ingot.import_export.target.work_items import (
    PlanningIds,
    StoredItem,
    closing_columns,
    planning_ids,
    recount_notes,
    shared_columns,
    store_relations,
    store_users,
)
from ingot.import_export.work_item_records import MergeRequestRecord

_IIDS = IidSequence(KIND, merge_requests, "target_project_id", "!")
_OID = re.compile("[0-9a-f]{40}")
_MAX_BRANCH = 1024
_OPEN_FROM = select(merge_requests.c.id, merge_requests.c.source_branch, merge_requests.c.target_branch).where(
    merge_requests.c.source_project_id == bindparam("project"),
    in_list(merge_requests.c.source_branch, "branches"),
    merge_requests.c.target_project_id == bindparam("project"),
    merge_requests.c.state == "opened",
    merge_requests.c.deleted_at.is_(None),
)
_NOT_PREPARED = PreparedMergeRequest(None, (), (), frozenset(), {})


def store_merge_requests(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store merge requests with everything that belongs to them."""
    db = context.db
    linked = {change.local_id for change in changes if change.local_id}
    known = rows_by_ids(db, merge_requests, linked, "state", "deleted_at")
    kept = [change for change in changes if not change.local_id or _exists(context, change, known)]
    ids = planning_ids(context, [change.record for change in kept])
    rows = {change.key: _columns(context, change, ids) for change in kept}
    _detach_duplicates(context, kept, rows)
    new = [change for change in kept if not change.local_id]
    iids = assign_iids(context, _IIDS, [(change.key, change.record.iid) for change in new])
    inserted = [{**_fixed_columns(context), "iid": iids[change.key], **rows[change.key][0]} for change in new]
    # Rows that are no longer open first: an open one may have their branches now.
    changed = sorted((change for change in kept if change.local_id), key=lambda each: each.record.state == "opened")
    update_rows(db, merge_requests, [(change.local_id or 0, rows[change.key][0]) for change in changed])
    new_ids = dict(zip([change.key for change in new], insert_rows(db, merge_requests, inserted), strict=True))
    items = [
        StoredItem(
            change,
            change.local_id or new_ids[change.key],
            rows[change.key][0]["state"],
            confidential=False,
            mentioned=rows[change.key][1],
        )
        for change in kept
    ]
    _count(context, items, known)
    store_relations(context, KIND, items, ids)
    _store_users(context, items)
    commits = {item.id: _prepared(context, item.change) for item in items}
    store_versions(context, items, commits)
    _store_closings(context, items)
    store_discussions(
        context,
        KIND,
        [
            DiscussedSubject(KIND, item.id, item.change.key, item.record.discussions, item.is_new, commits[item.id])
            for item in items
        ],
    )
    recount_notes(context, KIND, merge_requests, items)
    return {change.key: change.local_id for change in changes} | {item.change.key: item.id for item in items}


def _prepared(context: StoreContext, change: Change) -> PreparedMergeRequest:
    return context.preparation.merge_requests.get(change.key, _NOT_PREPARED)


def _exists(context: StoreContext, change: Change, known: dict[int, tuple[Any, ...]]) -> bool:
    if change.local_id in known and known[change.local_id][1] is None:
        return True
    context.problem(f"The merge request !{change.record.iid} was deleted here; its changes were not imported.")
    return False


def _fixed_columns(context: StoreContext) -> dict[str, Any]:
    return {
        "target_project_id": context.project.id,
        "merge_when_pipeline_succeeds": False,
        "merge_user_id": None,
        "merge_params": None,
        "merge_error": None,
        "verdict_source_oid": None,
        "verdict_target_oid": None,
        "verdict": None,
        "deleted_at": None,
    }


def _columns(context: StoreContext, change: Change, ids: PlanningIds) -> tuple[dict[str, Any], list[int]]:
    record: MergeRequestRecord = change.record
    columns, mentioned = shared_columns(context, record, ids)
    if record.draft:
        columns["title"] = add_draft_prefix(columns["title"], "Draft")[:MAX_TITLE]
        columns["title_key"] = columns["title"].casefold()
    state = record.state if record.state in ("closed", "merged") else "opened"
    head = _prepared(context, change).head_oid
    if head is None:
        context.problem(f"The commits of the merge request !{record.iid} are missing; it is shown without changes.")
    merged = {"merged_at": None, "merged_by_id": None}
    if state == "merged":
        merged_at = moment_or_none(record.merged_at) or moment(record.updated_at, context.db.now)
        merged = {"merged_at": merged_at, "merged_by_id": context.user_or_none(record.merged_by)}  # type: ignore[dict-item] # Columns of two types.
    return {
        **columns,
        **closing_columns(context, record, closed=state == "closed"),
        **merged,
        "source_project_id": None if record.source_project else context.project.id,
        "source_branch": record.source_branch[:_MAX_BRANCH],
        "target_branch": record.target_branch[:_MAX_BRANCH],
        "state": state,
        "squash": record.squash,
        "remove_source_branch": record.remove_source_branch,
        "head_oid": head or _oid_or_none(record.head_sha) or NO_OID,
        "merge_commit_oid": _oid_or_none(record.merge_commit_sha) if state == "merged" else None,
        "squash_commit_oid": _oid_or_none(record.squash_commit_sha) if state == "merged" else None,
    }, mentioned


def _oid_or_none(text: str | None) -> str | None:
    return text if text and _OID.fullmatch(text) else None


def _detach_duplicates(
    context: StoreContext, kept: Sequence[Change], rows: dict[str, tuple[dict[str, Any], list[int]]]
) -> None:
    """Remove the source project of a second open merge request between the same branches: only one can be open."""
    opened = [change for change in kept if rows[change.key][0]["state"] == "opened"]
    branches = list({rows[change.key][0]["source_branch"] for change in opened})
    stored = context.db.rows(_OPEN_FROM, project=context.project.id, branches=branches) if branches else []
    replaced = {change.local_id for change in kept}
    taken = {(source, target) for row_id, source, target in stored if row_id not in replaced}
    for change in opened:
        row = rows[change.key][0]
        pair = row["source_branch"], row["target_branch"]
        if row["source_project_id"] is None:
            continue
        if pair in taken:
            row["source_project_id"] = None
            context.problem(
                f"!{change.record.iid} has no source project, because another one from {pair[0]} to {pair[1]} is open."
            )
        taken.add(pair)


def _count(context: StoreContext, items: Sequence[StoredItem], known: dict[int, tuple[Any, ...]]) -> None:
    changes: Counter[tuple[int, str]] = Counter()
    for item in items:
        changes[context.project.id, item.state] += 1
        if not item.is_new:
            changes[context.project.id, known[item.id][0]] -= 1
    add_to_merge_request_counts(context.db, changes)


def _store_users(context: StoreContext, items: Sequence[StoredItem]) -> None:
    owner = "merge_request_id"
    assignees = {item.id: context.user_ids(item.record.assignees) for item in items}
    store_users(context, merge_request_assignees, owner, items, assignees)
    reviewers = {item.id: context.user_ids(item.record.reviewers) for item in items}
    store_users(context, merge_request_reviewers, owner, items, reviewers)
    reviews = [(item.id, context.user(each.user), each.state) for item in items for each in item.record.reviews]
    store_reviews(context.db, reviews)
    approvals = [
        {
            owner: item.id,
            "user_id": context.user(approval.user),
            "created_at": moment(approval.created_at, context.db.now),
        }
        for item in items
        for approval in item.record.approvals
    ]
    existing = [item.id for item in items if not item.is_new]
    replace_rows(context.db, Relation(merge_request_approvals, owner, (owner, "user_id")), existing, approvals)


def _store_closings(context: StoreContext, items: Sequence[StoredItem]) -> None:
    """Store the issues of the project that texts and commits close."""
    closed = [
        (item.id, by_commits, iid)
        for item in items
        for by_commits, texts in (
            (False, [f"{item.record.title}\n\n{item.record.description or ''}"]),
            (True, _prepared(context, item.change).messages),
        )
        for iid in _closed_iids(context, texts)
    ]
    owner = ("project_id", context.project.id)
    stored = rows_by_values(context.db, issues, owner, "iid", {iid for _, _, iid in closed}, "id", "deleted_at")
    rows = [
        {"merge_request_id": item_id, "issue_id": stored[iid][0], "by_commits": by_commits}
        for item_id, by_commits, iid in closed
        if iid in stored and stored[iid][1] is None
    ]
    key = ("merge_request_id", "issue_id", "by_commits")
    existing = [item.id for item in items if not item.is_new]
    replace_rows(context.db, Relation(merge_request_closings, "merge_request_id", key), existing, rows)


def _closed_iids(context: StoreContext, texts: Iterable[str]) -> set[int]:
    own = context.project.full_path
    references = [
        reference
        for text in texts
        if can_mention_issues(text)
        for reference in closing_references(context.rewrite(text).text, context.base_url)
    ]
    return {each.number for each in references if each.number and full_project_path(each, own) == own}
