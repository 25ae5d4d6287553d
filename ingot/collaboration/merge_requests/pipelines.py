"""Queries for the pipelines of merge requests."""

from collections.abc import Sequence

from sqlalchemy import bindparam, case, select

from ingot.collaboration.merge_requests.tables import (
    MERGE_REQUEST_COLUMNS,
    MergeRequest,
    merge_request_versions,
    merge_requests,
)
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.repositories.pipelines.tables import IS_NO_CHILD, Pipeline, Status, pipelines

_HEAD_PIPELINES = (
    select(pipelines.c.project_id, pipelines.c.sha, pipelines.c.ref, pipelines.c.status, pipelines.c.merge_request_id)
    .where(in_list(pipelines.c.project_id, "projects"), in_list(pipelines.c.sha, "heads"), IS_NO_CHILD)
    .order_by(pipelines.c.id)
)
_HEADS = select(merge_request_versions.c.head_oid).where(
    merge_request_versions.c.merge_request_id == bindparam("merge_request")
)
_HEAD = select(merge_requests.c.head_oid).where(merge_requests.c.id == bindparam("merge_request"))
# A status that was reported for the head without a branch name may belong to a pipeline of another branch.
_PIPELINES = list_query(
    select(pipelines).where(
        pipelines.c.project_id == bindparam("project"),
        IS_NO_CHILD,
        (pipelines.c.merge_request_id == bindparam("merge_request"))
        | ((pipelines.c.ref == bindparam("branch")) & pipelines.c.sha.in_(_HEADS.scalar_subquery()))
        | (pipelines.c.sha == _HEAD.scalar_subquery()),
    ),
    pipelines.c.id,
    pipelines.c.id.desc(),
)
_HEAD_PIPELINE = (
    select(pipelines)
    .where(pipelines.c.project_id == bindparam("project"), pipelines.c.sha == bindparam("head"), IS_NO_CHILD)
    .order_by(
        case(
            (pipelines.c.merge_request_id == bindparam("merge_request"), 0),
            (pipelines.c.ref == bindparam("branch"), 1),
            else_=2,
        ),
        pipelines.c.id.desc(),
    )
    .limit(1)
)
_BY_IDS = select(*MERGE_REQUEST_COLUMNS).where(in_list(merge_requests.c.id, "ids"))


def head_pipeline(db: Connection, merge_request: MergeRequest) -> Pipeline | None:
    """Return the pipeline of the head: of the merge request, else on the source branch, else on any branch, or None."""
    project_id, head = merge_request.source_project_id, merge_request.head_oid
    if project_id is None:
        return None
    values = {"branch": merge_request.source_branch, "merge_request": merge_request.id}
    return db.first(Pipeline, _HEAD_PIPELINE, project=project_id, head=head, **values)


def head_statuses(db: Connection, page: Sequence[MergeRequest]) -> dict[int, Status]:
    """Return the status of the head pipeline of each merge request, as ``head_pipeline`` selects it."""
    newest: dict[tuple[int, str, str | int | None], Status] = {}
    heads = sorted({merge_request.head_oid for merge_request in page})
    sources = sorted(
        {merge_request.source_project_id for merge_request in page if merge_request.source_project_id is not None}
    )
    rows = db.rows(_HEAD_PIPELINES, projects=sources, heads=heads) if sources else ()
    for project_id, sha, ref, status, merge_request_id in rows:
        newest[project_id, sha, ref] = newest[project_id, sha, None] = status
        if merge_request_id is not None:
            newest[project_id, sha, merge_request_id] = status
    statuses: dict[int, Status] = {}
    for merge_request in page:
        head = merge_request.source_project_id or 0, merge_request.head_oid
        keys = (merge_request.id, merge_request.source_branch, None)
        status = next((newest[(*head, key)] for key in keys if (*head, key) in newest), None)
        if status is not None:
            statuses[merge_request.id] = status
    return statuses


def failed_heads(db: Connection, merge_request_ids: Sequence[int]) -> dict[int, int]:
    """Return the source project of each of these merge requests whose head pipeline failed, in two statements."""
    records = db.all(MergeRequest, _BY_IDS, ids=list(merge_request_ids))
    statuses = head_statuses(db, records)
    return {
        record.id: record.source_project_id
        for record in records
        if statuses.get(record.id) == "failed" and record.source_project_id is not None
    }


def list_merge_request_pipelines(db: Connection, merge_request: MergeRequest, page: Page) -> Listing[Pipeline]:
    """Return a page of the pipelines of all heads of a merge request, the newest first."""
    values = {"merge_request": merge_request.id, "project": merge_request.source_project_id}
    return fetch_page(db, Pipeline, _PIPELINES, page, **values, branch=merge_request.source_branch)
