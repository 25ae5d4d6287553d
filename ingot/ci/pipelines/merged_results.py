"""Merged results pipelines: a merge request is tested as its target branch will be after the merge."""

from functools import partial

import msgspec

from ingot.ci.pipelines.creation import PipelineRequest
from ingot.collaboration.merge_requests.merge.merge_ref import trial_merge
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.core.db.database import Database
from ingot.core.errors import Invalid
from ingot.core.log import log_failure
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_request_commits import merge_request_merge_ref

NOT_MERGEABLE = (
    "This pipeline tests the source branch without the changes of the target branch, "
    "because the two cannot be merged: they conflict, or the target already contains the commits."
)


def with_merged_result(database: Database, store: RepositoryStore, request: PipelineRequest) -> PipelineRequest:
    """Return the request for the merge result of a merge request, if its target project is set so.

    If the branches cannot be merged, the pipeline of the head says so. A fork does not contain the result: its
    pipelines test the head.
    """
    if request.merge_request_id is None or not request.project.options.merge_pipelines_enabled:
        return request
    merge_request = database.read(partial(merge_request_by_id, merge_request_id=request.merge_request_id))
    if merge_request.target_project_id != request.project.id:
        return request
    try:
        merged = trial_merge(database, store, request.project, merge_request)
    except (Invalid, GitError, MissingRepository) as error:
        if not isinstance(error, Invalid):
            log_failure("merge result not computed", error, merge_request=merge_request.id)
        return msgspec.structs.replace(request, warnings=(NOT_MERGEABLE,))
    return msgspec.structs.replace(
        request,
        ref=merge_request_merge_ref(merge_request.iid),
        sha=merged.commit,
        source_sha=merge_request.head_oid,
        target_sha=merged.target,
    )
