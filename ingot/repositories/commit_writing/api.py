"""Endpoints that create commits."""

from ingot.core.api.routes import AlternateResponse, Routes, StagedCall
from ingot.core.errors import Invalid
from ingot.git.diffs.stats import commit_stats
from ingot.git.writing.commits import TreeAction
from ingot.pipelines.queries import pipelines_of_commit
from ingot.pipelines.views import pipeline_brief
from ingot.repositories.commit_writing import write
from ingot.repositories.commit_writing.content import body_limit, decode_content
from ingot.repositories.commit_writing.params import CherryPick, CreateCommit, FileAction, Revert
from ingot.repositories.commit_writing.views import DryRunView
from ingot.repositories.commit_writing.write import BranchStart, CommitDetails, FileEdit
from ingot.repositories.commits.queries import overall_pipeline_status
from ingot.repositories.commits.views import CommitDetailView, CommitView, commit_detail_view, commit_view
from ingot.repositories.context import RepositoryContext, may_push_code, project_url, repository_in_path

routes = Routes("commits")
_DRY_RUN_RESULT = AlternateResponse(200, DryRunView())
"""Returned with status 200 instead of 201, since nothing was created."""


@routes.post(
    "/projects/:id/repository/commits",
    on=repository_in_path,
    may=may_push_code,
    returns=CommitDetailView,
    staged=True,
    conflict=400,
    body_limit=body_limit,
)
def create_commit(stage: StagedCall, context: RepositoryContext, params: CreateCommit) -> CommitDetailView:
    """Commit changes of several files to a branch, all of them or none."""
    details = CommitDetails(params.commit_message, params.author_name or "", params.author_email or "")
    if not params.actions:
        raise Invalid(actions=["can't be blank"])
    edits = [_file_edit(action, stage.settings.max_file_mb) for action in params.actions]
    start = _branch_start(context, params)
    commit = write.commit_edits(stage.database, stage.actor, context, params.branch, edits, details, start=start)
    stats = commit_stats(context.repository, [commit])[0] if params.stats else None
    # A commit with the same content, message and second has the same id, so it may exist already and have pipelines.
    pipelines = stage.database.read(lambda db: pipelines_of_commit(db, context.project.id, commit.oid))
    url = project_url(stage, context.project)
    last_pipeline = pipeline_brief(pipelines[0], url) if pipelines else None
    return commit_detail_view(commit, stats, overall_pipeline_status(pipelines), context.project.id, url, last_pipeline)


def _branch_start(context: RepositoryContext, params: CreateCommit) -> BranchStart:
    if params.start_project and params.start_project not in (str(context.project.id), context.project.full_path):
        raise Invalid(start_project=["can only be this project"])
    if params.start_branch and params.start_sha:
        raise Invalid(start_sha=["cannot be given together with start_branch"])
    return BranchStart(params.start_branch or "", params.start_sha or "", params.force)


def _file_edit(params: FileAction, max_mb: int) -> FileEdit:
    if params.action in ("create", "update") and params.content is None:
        raise Invalid(actions=['"content" not given'])
    if params.action == "move" and not params.previous_path:
        raise Invalid(actions=['"previous_path" not given'])
    if params.action == "chmod" and params.execute_filemode is None:
        raise Invalid(actions=['"execute_filemode" not given'])
    has_content = params.action in ("create", "update", "move") and params.content is not None
    action = TreeAction(
        params.action,
        params.file_path,
        params.previous_path or "" if params.action == "move" else "",
        decode_content(params.content or "", params.encoding, max_mb) if has_content else None,
        params.execute_filemode,
    )
    return FileEdit(action, params.last_commit_id or "")


@routes.post(
    "/projects/:id/repository/commits/:sha/cherry_pick",
    on=repository_in_path,
    may=may_push_code,
    returns=CommitView,
    instead={200: DryRunView},
    staged=True,
    conflict=400,
)
def cherry_pick_commit(
    stage: StagedCall, context: RepositoryContext, params: CherryPick
) -> CommitView | AlternateResponse:
    """Cherry-pick a commit to a branch."""
    sha, message, dry_run = stage.path["sha"], params.message or "", params.dry_run
    names_source = stage.settings.profile == "current"
    commit = write.cherry_pick(
        stage.database, stage.actor, context, sha, params.branch, message, names_source=names_source, dry_run=dry_run
    )
    return _DRY_RUN_RESULT if dry_run else commit_view(commit, project_url(stage, context.project))


@routes.post(
    "/projects/:id/repository/commits/:sha/revert",
    on=repository_in_path,
    may=may_push_code,
    returns=CommitView,
    instead={200: DryRunView},
    staged=True,
    conflict=400,
)
def revert_commit(stage: StagedCall, context: RepositoryContext, params: Revert) -> CommitView | AlternateResponse:
    """Revert a commit on a branch."""
    commit = write.revert(
        stage.database, stage.actor, context, stage.path["sha"], params.branch, dry_run=params.dry_run
    )
    return _DRY_RUN_RESULT if params.dry_run else commit_view(commit, project_url(stage, context.project))
