"""Endpoints of changelogs."""

from functools import partial

from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.errors import NotFound
from ingot.git.history.commits import branch_tip
from ingot.git.writing.commits import TreeAction
from ingot.repositories.changelogs.configuration import read_text_or_none
from ingot.repositories.changelogs.params import AddChangelog, GetChangelog
from ingot.repositories.changelogs.queries import release_notes
from ingot.repositories.changelogs.versions import insert_section, require_version
from ingot.repositories.changelogs.views import ChangelogView
from ingot.repositories.commit_writing.staged import CommitDetails, FileEdit, commit_edits
from ingot.repositories.context import RepositoryContext, may_push_code, may_read_code, repository_in_path

routes = Routes("changelogs")
MAX_FILE_BYTES = 8 * 2**20


@routes.get(
    "/projects/:id/repository/changelog", on=repository_in_path, may=may_read_code, returns=ChangelogView, heavy=True
)
def get_changelog(call: Call, context: RepositoryContext, params: GetChangelog) -> ChangelogView:
    """Get the release notes of a version."""
    return ChangelogView(release_notes(call.db, call.actor, call.origin.base, context, params).text)


@routes.post(
    "/projects/:id/repository/changelog",
    on=repository_in_path,
    may=may_push_code,
    returns=None,
    status=200,
    staged=True,
    conflict=400,
)
def add_changelog(stage: StagedCall, context: RepositoryContext, params: AddChangelog) -> None:
    """Add the release notes of a version to a file of a branch."""
    branch = params.branch or context.project.default_branch
    notes = stage.database.read(
        partial(release_notes, actor=stage.actor, base=stage.origin.base, context=context, params=params)
    )
    tip = branch_tip(context.repository, branch)
    if tip is None:
        raise NotFound("Branch")
    current = read_text_or_none(context.repository, tip, params.file, MAX_FILE_BYTES)
    text = insert_section(current or "", notes.text, require_version(params.version))
    action = TreeAction("create" if current is None else "update", params.file, content=text.encode())
    message = params.message or f"Add changelog for version {params.version}"
    commit_edits(stage.database, stage.actor, context, branch, [FileEdit(action)], CommitDetails(message))
