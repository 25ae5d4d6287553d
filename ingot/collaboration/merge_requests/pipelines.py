"""Queries for the pipelines of merge requests."""

from collections.abc import Collection, Sequence

from sqlalchemy import bindparam, case, func, select

from ingot.collaboration.merge_requests.tables import (
    MERGE_REQUEST_COLUMNS,
    MergeRequest,
    merge_request_versions,
    merge_requests,
)
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.pipelines.tables import IS_NO_CHILD, IS_OF_NO_TRAIN, Pipeline, Status, pipelines

# The commit of the merge request that a pipeline stands for.
_TESTED = func.coalesce(pipelines.c.source_sha, pipelines.c.sha)
# That of a fork runs in the fork or in the target project, where other pipelines of the same commit do not count.
_OF_SOURCE = pipelines.c.project_id == bindparam("project")
_OF_TARGET = (pipelines.c.project_id == bindparam("target")) & (
    pipelines.c.merge_request_id == bindparam("merge_request")
)
_AT_HEAD = pipelines.c.sha == bindparam("head")
_TESTS_HEAD = pipelines.c.source_sha == bindparam("head")
_IN_PROJECTS = in_list(pipelines.c.project_id, "projects")
# Each alternative names its project: SQLite uses an index for each one then, and otherwise reads a whole project.
_HEAD_PIPELINES = (
    select(pipelines.c.project_id, _TESTED, pipelines.c.ref, pipelines.c.status, pipelines.c.merge_request_id)
    .where(
        (_IN_PROJECTS & in_list(pipelines.c.sha, "heads")) | (_IN_PROJECTS & in_list(pipelines.c.source_sha, "heads")),
        IS_NO_CHILD,
        IS_OF_NO_TRAIN,
    )
    .order_by(pipelines.c.id)
)
_HEADS = select(merge_request_versions.c.head_oid).where(
    merge_request_versions.c.merge_request_id == bindparam("merge_request")
)
_HEAD = select(merge_requests.c.head_oid).where(merge_requests.c.id == bindparam("merge_request"))
# A status that was reported for the head without a branch name may belong to a pipeline of another branch.
_PIPELINES = list_query(
    select(pipelines).where(
        IS_NO_CHILD,
        (
            (pipelines.c.merge_request_id == bindparam("merge_request"))
            & pipelines.c.project_id.in_((bindparam("project"), bindparam("target")))
        )
        | (_OF_SOURCE & (pipelines.c.ref == bindparam("branch")) & pipelines.c.sha.in_(_HEADS.scalar_subquery()))
        | (_OF_SOURCE & (pipelines.c.sha == _HEAD.scalar_subquery())),
    ),
    pipelines.c.id,
    pipelines.c.id.desc(),
)
_HEAD_PIPELINE = (
    select(pipelines)
    .where(
        (_OF_SOURCE & _AT_HEAD) | (_OF_SOURCE & _TESTS_HEAD) | (_OF_TARGET & (_AT_HEAD | _TESTS_HEAD)),
        IS_NO_CHILD,
        IS_OF_NO_TRAIN,
    )
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
    """Return the pipeline of the head: of the merge request, else on the source branch, else on any branch, or None.

    That of the merge request of a fork may have run in the target project.
    """
    values = {
        "project": merge_request.source_project_id or 0,
        "target": merge_request.target_project_id,
        "head": merge_request.head_oid,
        "branch": merge_request.source_branch,
        "merge_request": merge_request.id,
    }
    return db.first(Pipeline, _HEAD_PIPELINE, **values)


def head_statuses(db: Connection, page: Sequence[MergeRequest]) -> dict[int, Status]:
    """Return the status of the head pipeline of each merge request, as ``head_pipeline`` selects it."""
    return {number: status for number, (_, status) in _head_outcomes(db, page).items()}


def head_outcomes(db: Connection, merge_request_ids: Sequence[int]) -> dict[int, tuple[int, Status]]:
    """Return the project and the status of the head pipeline of each merge request, in two statements."""
    return _head_outcomes(db, db.all(MergeRequest, _BY_IDS, ids=list(merge_request_ids)))


def _head_outcomes(db: Connection, page: Sequence[MergeRequest]) -> dict[int, tuple[int, Status]]:
    heads = sorted({merge_request.head_oid for merge_request in page})
    projects = {merge_request.source_project_id or 0 for merge_request in page}
    projects |= {merge_request.target_project_id for merge_request in page}
    # The newest of each kind, since the rows are in the order of the pipelines.
    of_merge_requests: dict[tuple[int, str], tuple[int, Status]] = {}
    of_branches: dict[tuple[int, str, str | None], tuple[int, Status]] = {}
    for project_id, sha, ref, status, merge_request_id in db.rows(
        _HEAD_PIPELINES, projects=sorted(projects), heads=heads
    ):
        of_branches[project_id, sha, ref] = of_branches[project_id, sha, None] = project_id, status
        if merge_request_id is not None:
            of_merge_requests[merge_request_id, sha] = project_id, status
    outcomes: dict[int, tuple[int, Status]] = {}
    for merge_request in page:
        source, head = merge_request.source_project_id or 0, merge_request.head_oid
        outcome = (
            of_merge_requests.get((merge_request.id, head))
            or of_branches.get((source, head, merge_request.source_branch))
            or of_branches.get((source, head, None))
        )
        if outcome is not None:
            outcomes[merge_request.id] = outcome
    return outcomes


def list_merge_request_pipelines(
    db: Connection, merge_request: MergeRequest, visible: Collection[int], page: Page
) -> Listing[Pipeline]:
    """Return a page of the pipelines of all heads of a merge request in ``visible`` projects, the newest first."""
    source, target = merge_request.source_project_id or 0, merge_request.target_project_id
    values = {
        "merge_request": merge_request.id,
        "project": source if source in visible else 0,
        "target": target if target in visible else 0,
    }
    return fetch_page(db, Pipeline, _PIPELINES, page, **values, branch=merge_request.source_branch)
