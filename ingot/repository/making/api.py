"""Making commits over the API."""

from ingot.api.routes import Instead, Routes, Stage
from ingot.errors import Invalid
from ingot.git.stats import stats_of
from ingot.git.writing import Action
from ingot.repository.commits.queries import status_of
from ingot.repository.commits.views import CommitDetailView, CommitView, commit_view, detail_view
from ingot.repository.making import work
from ingot.repository.making.content import body_limit, read_content
from ingot.repository.making.params import CherryPick, CreateCommit, FileAction, Revert
from ingot.repository.making.views import TriedView
from ingot.repository.making.work import Edit, Said, Start
from ingot.repository.pipelines.queries import pipelines_of_commit
from ingot.repository.pipelines.views import pipeline_brief
from ingot.repository.place import Place, may_push_code, place_in_path, project_url

routes = Routes("commits")
_TRIED = Instead(200, TriedView())
"""Nothing was created."""


@routes.post(
    "/projects/:id/repository/commits",
    on=place_in_path,
    may=may_push_code,
    returns=CommitDetailView,
    staged=True,
    conflict=400,
    body_limit=body_limit,
)
def create_commit(stage: Stage, place: Place, params: CreateCommit) -> CommitDetailView:
    """Commit changes of several files to a branch, all of them or none."""
    said = Said(params.commit_message, params.author_name or "", params.author_email or "")
    if not params.actions:
        raise Invalid(actions=["can't be blank"])
    edits = [_edit(action, stage.settings.max_file_mb) for action in params.actions]
    start = _start(place, params)
    commit = work.commit_edits(stage.database, stage.actor, place, params.branch, edits, said, start=start)
    stats = stats_of(place.repository, [commit])[0] if params.stats else None
    # Commits with the same words, of the same second, are the same: it may have been there, and have its pipelines.
    pipelines = stage.database.read(lambda db: pipelines_of_commit(db, place.project.id, commit.oid))
    url = project_url(stage, place.project)
    last = pipeline_brief(pipelines[0], url) if pipelines else None
    return detail_view(commit, stats, status_of(pipelines), place.project.id, url, last)


def _start(place: Place, params: CreateCommit) -> Start:
    if params.start_project and params.start_project not in (str(place.project.id), place.project.full_path):
        raise Invalid(start_project=["can only be this project"])
    if params.start_branch and params.start_sha:
        raise Invalid(start_sha=["cannot be given together with start_branch"])
    return Start(params.start_branch or "", params.start_sha or "", params.force)


def _edit(asked: FileAction, most_mb: int) -> Edit:
    if asked.action in ("create", "update") and asked.content is None:
        raise Invalid(actions=['"content" not given'])
    if asked.action == "move" and not asked.previous_path:
        raise Invalid(actions=['"previous_path" not given'])
    if asked.action == "chmod" and asked.execute_filemode is None:
        raise Invalid(actions=['"execute_filemode" not given'])
    brings = asked.action in ("create", "update", "move") and asked.content is not None
    action = Action(
        asked.action,
        asked.file_path,
        asked.previous_path or "" if asked.action == "move" else "",
        read_content(asked.content or "", asked.encoding, most_mb) if brings else None,
        asked.execute_filemode,
    )
    return Edit(action, asked.last_commit_id or "")


@routes.post(
    "/projects/:id/repository/commits/:sha/cherry_pick",
    on=place_in_path,
    may=may_push_code,
    returns=CommitView,
    instead={200: TriedView},
    staged=True,
    conflict=400,
)
def cherry_pick_commit(stage: Stage, place: Place, params: CherryPick) -> CommitView | Instead:
    """Do again on a branch what a commit did."""
    sha, message, dry_run = stage.path["sha"], params.message or "", params.dry_run
    commit = work.cherry_pick(stage.database, stage.actor, place, sha, params.branch, message, dry_run=dry_run)
    return _TRIED if dry_run else commit_view(commit, project_url(stage, place.project))


@routes.post(
    "/projects/:id/repository/commits/:sha/revert",
    on=place_in_path,
    may=may_push_code,
    returns=CommitView,
    instead={200: TriedView},
    staged=True,
    conflict=400,
)
def revert_commit(stage: Stage, place: Place, params: Revert) -> CommitView | Instead:
    """Undo on a branch what a commit did."""
    commit = work.revert(stage.database, stage.actor, place, stage.path["sha"], params.branch, dry_run=params.dry_run)
    return _TRIED if params.dry_run else commit_view(commit, project_url(stage, place.project))
