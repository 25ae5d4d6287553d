"""Endpoints of changelogs."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.errors import Conflict, Invalid
from ingot.git.history.commits import branch_tip
from ingot.git.writing.commits import TreeAction
from ingot.repositories.changelogs.configuration import read_text_or_none
from ingot.repositories.changelogs.params import AddChangelog, GetChangelog
from ingot.repositories.changelogs.queries import release_notes
from ingot.repositories.changelogs.versions import insert_section, require_version
from ingot.repositories.changelogs.views import ChangelogView
from ingot.repositories.commit_writing.write import CommitDetails, FileEdit, commit_edits
from ingot.repositories.context import RepositoryContext, may_push_code, may_read_code, repository_in_path

routes = Routes("changelogs")
MAX_FILE_BYTES = 8 * 2**20


@contextmanager
def _failures_as_conflicts() -> Iterator[None]:
    """Turn invalid configurations, templates and ranges into conflicts, which both endpoints answer with 422."""
    try:
        yield
    except Invalid as error:
        if error.errors:
            raise  # An invalid parameter.
        raise Conflict(f"Failed to generate the changelog: {error.message}") from error


@routes.get(
    "/projects/:id/repository/changelog",
    on=repository_in_path,
    may=may_read_code,
    returns=ChangelogView,
    heavy=True,
    conflict=422,
    job_token=True,
)
def get_changelog(call: Call, context: RepositoryContext, params: GetChangelog) -> ChangelogView:
    """Get the release notes of a version."""
    with _failures_as_conflicts():
        return ChangelogView(release_notes(call.db, call.actor, call.origin.base, context, params).text)


@routes.post(
    "/projects/:id/repository/changelog",
    on=repository_in_path,
    may=may_push_code,
    returns=None,
    status=200,
    staged=True,
    conflict=422,
)
def add_changelog(stage: StagedCall, context: RepositoryContext, params: AddChangelog) -> None:
    """Add the release notes of a version to a file of a branch."""
    with _failures_as_conflicts():
        _add_section(stage, context, params)


def _add_section(stage: StagedCall, context: RepositoryContext, params: AddChangelog) -> None:
    branch = params.branch or context.project.default_branch
    notes = stage.database.read(
        partial(release_notes, actor=stage.actor, base=stage.origin.base, context=context, params=params)
    )
    tip = branch_tip(context.repository, branch)
    if tip is None:
        raise Invalid("You can only create or edit files when you are on a branch")
    current = read_text_or_none(context.repository, tip, params.file, MAX_FILE_BYTES)
    text = insert_section(current or "", notes.text, require_version(params.version))
    action = TreeAction("create" if current is None else "update", params.file, content=text.encode())
    message = params.message or f"Add changelog for version {params.version}"
    commit_edits(stage.database, stage.actor, context, branch, [FileEdit(action)], CommitDetails(message))
