"""State changes of snippets."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete, select

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.settings import current_settings
from ingot.collaboration.emoji.service import delete_awards
from ingot.collaboration.notes.service import delete_notes
from ingot.collaboration.snippets.contents import SnippetFileContent, apply_changes, check_files, default_path
from ingot.collaboration.snippets.events import SnippetChanged
from ingot.collaboration.snippets.params import EditSnippet, SnippetContent
from ingot.collaboration.snippets.queries import files_of_snippet, snippet_by_id
from ingot.collaboration.snippets.tables import Snippet, snippet_files, snippets
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.api.params import MissingParameter
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound, too_long_message
from ingot.core.events.bus import emit
from ingot.projects.projects.tables import Project

MAX_TITLE_LENGTH = 255
MAX_DESCRIPTION_LENGTH = 1_000_000
# Locks the row until the transaction ends, so that concurrent edits do not overwrite each other's files.
_FOR_UPDATE = select(snippets).where(snippets.c.id == bindparam("snippet")).with_for_update()
_DELETE_FILES = delete(snippet_files).where(snippet_files.c.snippet_id == bindparam("snippet"))


def snippet_subject(snippet: Snippet) -> Subject:
    """Return a snippet as a subject of notes and award emoji."""
    return Subject("snippet", snippet.project_id, snippet.id, author_id=snippet.author_id, title=snippet.title)


def create_snippet(
    db: Connection,
    actor: Actor,
    project: Project | None,
    params: SnippetContent,
    visibility: str,
    user_agent: str,
    ip: str,
) -> Snippet:
    """Create a snippet, in a project or personal."""
    files = _new_files(params)
    _validate(params.title, params.description)
    _check_visibility_allowed(db, actor, visibility)
    check_files(files, cached_all_settings(db).snippet_size_limit)
    snippet_id = db.insert(
        snippets,
        project_id=project.id if project is not None else None,
        author_id=actor.user_id,
        title=params.title,
        description=params.description,
        visibility=visibility,
        user_agent=user_agent,
        ip_address=ip,
        created_at=db.now,
        updated_at=db.now,
    )
    _store_files(db, snippet_id, files)
    snippet = snippet_by_id(db, snippet_id)
    emit(db, SnippetChanged(snippet.id, snippet.project_id, actor.user_id, "created"))
    return snippet


def edit_snippet(db: Connection, actor: Actor, snippet: Snippet, params: EditSnippet) -> Snippet:
    """Update the given fields and files of a snippet."""
    current = db.first(Snippet, _FOR_UPDATE, snippet=snippet.id)
    if current is None:
        raise NotFound("Snippet")
    columns: dict[str, Any] = {
        name: getattr(params, name)
        for name in ("title", "description", "visibility")
        if getattr(params, name) is not UNSET
    }
    _validate(columns.get("title", current.title), columns.get("description", current.description))
    if columns.get("visibility", current.visibility) != current.visibility:
        _check_visibility_allowed(db, actor, columns["visibility"])
    _edit_files(db, current, params)
    db.update(snippets, current.id, **columns, updated_at=db.now)
    emit(db, SnippetChanged(current.id, current.project_id, actor.user_id, "edited"))
    return snippet_by_id(db, current.id)


def delete_snippet(db: Connection, actor: Actor, snippet: Snippet) -> None:
    """Delete a snippet with its files, notes and award emoji."""
    remove_snippet(db, actor.user_id, snippet)


def remove_snippet(db: Connection, actor_id: int, snippet: Snippet) -> None:
    """Delete a snippet with its files, notes and award emoji on behalf of a user id."""
    delete_notes(db, snippet_subject(snippet))
    delete_awards(db, "snippet", [snippet.id])
    if db.delete_counted(snippets, snippet.id):
        emit(db, SnippetChanged(snippet.id, snippet.project_id, actor_id, "deleted"))


def _new_files(params: SnippetContent) -> list[SnippetFileContent]:
    """Return the files of a new snippet, given in either of the two parameter forms."""
    content = params.code if params.code is not None else params.content
    if params.files:
        if params.file_name is not None or content is not None:
            raise Invalid("400 (Bad request) files, and file_name with its content, exclude each other")
        return [
            SnippetFileContent(file.file_path or default_path(number), file.content)
            for number, file in enumerate(params.files, 1)
        ]
    if params.file_name is None:
        raise MissingParameter("file_name")
    if content is None:
        raise MissingParameter("code")
    return [SnippetFileContent(params.file_name or default_path(1), content)]


def _edit_files(db: Connection, snippet: Snippet, params: EditSnippet) -> None:
    content = params.code if params.code is not UNSET else params.content
    single = params.file_name is not UNSET or content is not UNSET
    if not single and not params.files:
        return
    before = [SnippetFileContent(file.path, file.content) for file in files_of_snippet(db, snippet.id)]
    if params.files:
        if single:
            raise Invalid("400 (Bad request) files, and file_name with its content, exclude each other")
        after = apply_changes(before, params.files)
    else:
        if len(before) > 1:
            raise Invalid("400 (Bad request) several files are changed by the files parameter")
        path = before[0].path if params.file_name is UNSET else params.file_name or default_path(1)
        after = [SnippetFileContent(path, before[0].content if content is UNSET else content)]
    check_files(after, cached_all_settings(db).snippet_size_limit)
    if after != before:
        db.run(_DELETE_FILES, snippet=snippet.id)
        _store_files(db, snippet.id, after)


def _store_files(db: Connection, snippet_id: int, files: Sequence[SnippetFileContent]) -> None:
    for file in files:
        db.insert_row(snippet_files, snippet_id=snippet_id, path=file.path, content=file.content)


def _validate(title: str, description: str | None) -> None:
    errors: dict[str, list[str]] = {}
    if not title.strip():
        errors["title"] = ["can't be blank"]
    elif len(title) > MAX_TITLE_LENGTH:
        errors["title"] = [too_long_message(MAX_TITLE_LENGTH)]
    if len(description or "") > MAX_DESCRIPTION_LENGTH:
        errors["description"] = [too_long_message(MAX_DESCRIPTION_LENGTH)]
    if errors:
        raise Invalid(**errors)


def _check_visibility_allowed(db: Connection, actor: Actor, visibility: str) -> None:
    if visibility in current_settings(db).restricted_visibility_levels and not actor.admin:
        raise Invalid(visibility_level=[f"{visibility} has been restricted by your administrator"])
