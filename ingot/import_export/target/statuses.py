"""Storage of commit statuses, as external pipelines."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp
from ingot.git.core.names import MAX_BYTES
from ingot.import_export.records import StatusRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import insert_rows, moment, moment_or_none, rows_by_ids, update_rows
from ingot.import_export.target.text import limited
from ingot.pipelines.outcome import StatusPart, combined_status, mean_coverage, total_duration
from ingot.pipelines.queries import lock_project, next_iid
from ingot.pipelines.service import EXTERNAL_STAGE
from ingot.pipelines.tables import Status, commit_statuses, pipelines
from ingot.repositories.commit_statuses.post import DEFAULT_NAME, MAX_LENGTH, is_web_url

_PIPELINES = "pipelines"
"""Kind of the links from pipelines of the source to those created here."""
_FINISHED = ("success", "failed", "canceled", "skipped")
_STATES: dict[str, Status] = {
    "created": "created",
    "pending": "pending",
    "running": "running",
    "success": "success",
    "failed": "failed",
    "failure": "failed",
    "error": "failed",
    "canceled": "canceled",
    "cancelled": "canceled",
    "skipped": "skipped",
    "manual": "manual",
}
_OF_PIPELINES = select(
    commit_statuses.c.id,
    commit_statuses.c.pipeline_id,
    commit_statuses.c.name,
    commit_statuses.c.created_at,
    commit_statuses.c.status,
    commit_statuses.c.allow_failure,
    commit_statuses.c.coverage,
    commit_statuses.c.started_at,
    commit_statuses.c.finished_at,
    commit_statuses.c.retried,
).where(in_list(commit_statuses.c.pipeline_id, "pipelines"))


class _StoredStatus(NamedTuple):
    id: int
    pipeline_id: int
    name: str
    created_at: Timestamp
    status: Status
    allow_failure: bool
    coverage: float | None
    started_at: Timestamp | None
    finished_at: Timestamp | None
    retried: bool


def store_statuses(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store statuses; those of commits that the repository does not have are refused."""
    kept = []
    for change in changes:
        if change.record.sha in context.preparation.commits:
            kept.append(change)
        else:
            context.problem(
                f"The status {change.record.name!r} belongs to the missing commit {change.record.sha[:40]}."
            )
    by_pipeline = _pipeline_ids(context, kept)
    ids = _store(context, kept, by_pipeline)
    _complete_pipelines(context, sorted(set(by_pipeline.values())))
    return {change.key: ids.get(change.key) for change in changes}


def _pipeline_key(context: StoreContext, record: StatusRecord) -> str:
    return record.pipeline or f"{record.sha} {_ref(context, record)}"


def _ref(context: StoreContext, record: StatusRecord) -> str:
    ref = (record.ref or "").removeprefix("refs/heads/").removeprefix("refs/tags/")
    return ref if ref and len(ref) <= MAX_BYTES else context.project.default_branch


def _pipeline_ids(context: StoreContext, changes: Sequence[Change]) -> dict[str, int]:
    """Return the pipelines of statuses by the keys of the statuses; missing pipelines are created."""
    db, project_id = context.db, context.project.id
    keys = {change.key: _pipeline_key(context, change.record) for change in changes}
    links = context.linked(_PIPELINES, keys.values())
    existing = rows_by_ids(db, pipelines, {link.local_id for link in links.values()}, "id")
    known = {key: link.local_id for key, link in links.items() if link.local_id in existing}
    first = {keys[change.key]: change.record for change in reversed(changes) if keys[change.key] not in known}
    if first:
        lock_project(db, project_id)
        iid = next_iid(db, project_id)
        ordered = sorted(first, key=lambda key: moment(first[key].created_at, db.now))
        rows = [_pipeline_columns(context, first[key], iid + index) for index, key in enumerate(ordered)]
        created = dict(zip(ordered, insert_rows(db, pipelines, rows), strict=True))
        context.store_links(_PIPELINES, [(key, row_id, "") for key, row_id in created.items()])
        known |= created
    return {key: known[pipeline] for key, pipeline in keys.items()}


def _pipeline_columns(context: StoreContext, record: StatusRecord, iid: int) -> dict[str, Any]:
    created_at = moment(record.created_at, context.db.now)
    ref = _ref(context, record)
    return {
        "iid": iid,
        "project_id": context.project.id,
        "user_id": context.user_or_none(record.author),
        "sha": record.sha,
        "ref": ref,
        "tag": ref in context.preparation.tags,
        "source": "external",
        "status": "created",
        "created_at": created_at,
        "updated_at": created_at,
    }


def _store(context: StoreContext, changes: Sequence[Change], by_pipeline: dict[str, int]) -> dict[str, int]:
    """Write the statuses; the newest of each name in a pipeline counts, and the others were retried."""
    db = context.db
    wanted = sorted(set(by_pipeline.values()))
    stored = [_StoredStatus(*row) for row in db.rows(_OF_PIPELINES, pipelines=wanted)] if wanted else []
    known = {status.id for status in stored}
    ordered = sorted(changes, key=lambda change: moment(change.record.created_at, db.now))
    rows = {change.key: _columns(context, change.record, by_pipeline[change.key]) for change in ordered}
    newest: dict[tuple[int, str], tuple[Timestamp, str | int]] = {}
    for status in stored:
        if not status.retried:
            newest[status.pipeline_id, status.name] = status.created_at, status.id
    for key, row in rows.items():
        name, at = (row["pipeline_id"], row["name"]), row["created_at"]
        if name not in newest or at >= newest[name][0]:
            newest[name] = at, key
    current = {holder for _, holder in newest.values()}
    superseded = [
        (status.id, {"retried": True}) for status in stored if not status.retried and status.id not in current
    ]
    update_rows(db, commit_statuses, superseded)
    changed = [change for change in ordered if change.local_id in known]
    update_rows(
        db,
        commit_statuses,
        [
            (
                change.local_id or 0,
                {**rows[change.key], "retried": change.key not in current and change.local_id not in current},
            )
            for change in changed
        ],
    )
    new = [change.key for change in ordered if change.local_id not in known]
    inserted = [{**rows[key], "retried": key not in current} for key in new]
    ids = dict(zip(new, insert_rows(db, commit_statuses, inserted), strict=True))
    return ids | {change.key: change.local_id for change in changed if change.local_id}


def _columns(context: StoreContext, record: StatusRecord, pipeline_id: int) -> dict[str, Any]:
    state = _STATES.get(record.state, "canceled")
    created_at = moment(record.created_at, context.db.now)
    finished_at = moment(record.finished_at, created_at) if state in _FINISHED else None
    url = record.target_url
    return {
        "pipeline_id": pipeline_id,
        "user_id": context.user_or_none(record.author),
        "name": limited(record.name, MAX_LENGTH) or DEFAULT_NAME,
        "stage": limited(record.stage or "", MAX_LENGTH) or EXTERNAL_STAGE,
        "status": state,
        "target_url": url if url and len(url) <= MAX_LENGTH and is_web_url(url) else None,
        "description": limited(record.description or "", MAX_LENGTH) or None,
        "coverage": record.coverage if record.coverage is not None and 0 <= record.coverage <= 100 else None,
        "allow_failure": record.allow_failure,
        "created_at": created_at,
        "updated_at": finished_at or created_at,
        "started_at": moment_or_none(record.started_at),
        "finished_at": finished_at,
    }


def _complete_pipelines(context: StoreContext, pipeline_ids: Sequence[int]) -> None:
    """Set the state and times of pipelines, which follow from their statuses."""
    rows = context.db.rows(_OF_PIPELINES, pipelines=list(pipeline_ids)) if pipeline_ids else []
    by_pipeline: defaultdict[int, list[_StoredStatus]] = defaultdict(list)
    for row in rows:
        status = _StoredStatus(*row)
        by_pipeline[status.pipeline_id].append(status)
    updated = [(pipeline_id, _outcome(context, statuses)) for pipeline_id, statuses in by_pipeline.items()]
    update_rows(context.db, pipelines, updated)


def _outcome(context: StoreContext, statuses: Sequence[_StoredStatus]) -> dict[str, Any]:
    current = [status for status in statuses if not status.retried]
    parts = [
        StatusPart(each.status, each.allow_failure, each.coverage, each.started_at, each.finished_at)
        for each in current
    ]
    state = combined_status(parts)
    started = [each.started_at for each in statuses if each.started_at]
    finished = [each.finished_at for each in current if each.finished_at]
    finished_at = max(finished, default=None) if state in _FINISHED else None
    started_at = min(started, default=None)
    return {
        "status": state,
        "coverage": mean_coverage(parts),
        "duration": total_duration(parts, context.db.now) if started_at and finished_at else None,
        "started_at": started_at,
        "finished_at": finished_at,
        "updated_at": finished_at or max(each.created_at for each in statuses),
    }
