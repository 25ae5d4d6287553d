"""What changes snippets."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete, select

from ingot.access.actor import Actor
from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.emoji.service import drop_awards
from ingot.errors import Invalid, NotFound, too_long
from ingot.events.bus import emit
from ingot.instance.settings import current_settings
from ingot.notes.service import drop_notes
from ingot.projects.tables import Project
from ingot.snippets.contents import File, changed_files, check_files, default_path
from ingot.snippets.events import SnippetChanged
from ingot.snippets.params import EditSnippet, SnippetContent
from ingot.snippets.queries import files_of, snippet_by_id
from ingot.snippets.tables import Snippet, snippet_files, snippets
from ingot.subjects import Subject

LONGEST_TITLE = 255
LONGEST_TEXT = 1_000_000
# What is read here stays so until the transaction ends: whoever else would change it waits.
_HELD = select(snippets).where(snippets.c.id == bindparam("snippet")).with_for_update()
_DROP_FILES = delete(snippet_files).where(snippet_files.c.snippet_id == bindparam("snippet"))


def subject_of(snippet: Snippet) -> Subject:
    """A snippet as rooms see it that serve other things alike."""
    return Subject("snippet", snippet.project_id, snippet.id, author_id=snippet.author_id, title=snippet.title)


def create_snippet(
    db: Connection,
    actor: Actor,
    project: Project | None,
    wanted: SnippetContent,
    visibility: str,
    user_agent: str,
    ip: str,
) -> Snippet:
    """Write a new snippet, in a project or of the caller's own."""
    files = _new_files(wanted)
    _validate(wanted.title, wanted.description)
    _refuse_restricted(db, actor, visibility)
    check_files(files)
    snippet_id = db.insert(
        snippets,
        project_id=project.id if project is not None else None,
        author_id=actor.user_id,
        title=wanted.title,
        description=wanted.description,
        visibility=visibility,
        user_agent=user_agent,
        ip_address=ip,
        created_at=db.now,
        updated_at=db.now,
    )
    _keep_files(db, snippet_id, files)
    snippet = snippet_by_id(db, snippet_id)
    emit(db, SnippetChanged(snippet.id, snippet.project_id, actor.user_id, "created"))
    return snippet


def edit_snippet(db: Connection, actor: Actor, snippet: Snippet, wanted: EditSnippet) -> Snippet:
    """Change what was sent."""
    held = db.first(Snippet, _HELD, snippet=snippet.id)
    if held is None:
        raise NotFound("Snippet")
    columns: dict[str, Any] = {
        name: getattr(wanted, name)
        for name in ("title", "description", "visibility")
        if getattr(wanted, name) is not UNSET
    }
    _validate(columns.get("title", held.title), columns.get("description", held.description))
    if columns.get("visibility", held.visibility) != held.visibility:
        _refuse_restricted(db, actor, columns["visibility"])
    _edit_files(db, held, wanted)
    db.update(snippets, held.id, **columns, updated_at=db.now)
    emit(db, SnippetChanged(held.id, held.project_id, actor.user_id, "edited"))
    return snippet_by_id(db, held.id)


def delete_snippet(db: Connection, actor: Actor, snippet: Snippet) -> None:
    """Remove a snippet with its files."""
    remove_snippet(db, actor.user_id, snippet)


def remove_snippet(db: Connection, actor_id: int, snippet: Snippet) -> None:
    """Let a snippet go, and all that people said about it."""
    drop_notes(db, subject_of(snippet))
    drop_awards(db, "snippet", [snippet.id])
    if db.delete(snippets, snippet.id):
        emit(db, SnippetChanged(snippet.id, snippet.project_id, actor_id, "deleted"))


def _new_files(wanted: SnippetContent) -> list[File]:
    """What a new snippet consists of, said in one way or the other."""
    content = wanted.code if wanted.code is not None else wanted.content
    if wanted.files:
        if wanted.file_name is not None or content is not None:
            raise Invalid("400 (Bad request) files, and file_name with its content, exclude each other")
        return [File(file.file_path or default_path(place), file.content) for place, file in enumerate(wanted.files, 1)]
    if wanted.file_name is None:
        raise Missing("file_name")
    if content is None:
        raise Missing("code")
    return [File(wanted.file_name or default_path(1), content)]


def _edit_files(db: Connection, snippet: Snippet, wanted: EditSnippet) -> None:
    content = wanted.code if wanted.code is not UNSET else wanted.content
    single = wanted.file_name is not UNSET or content is not UNSET
    if not single and not wanted.files:
        return
    before = [File(file.path, file.content) for file in files_of(db, snippet.id)]
    if wanted.files:
        if single:
            raise Invalid("400 (Bad request) files, and file_name with its content, exclude each other")
        after = changed_files(before, wanted.files)
    else:
        if len(before) > 1:
            raise Invalid("400 (Bad request) several files are changed by the files parameter")
        path = before[0].path if wanted.file_name is UNSET else wanted.file_name or default_path(1)
        after = [File(path, before[0].content if content is UNSET else content)]
    check_files(after)
    if after != before:
        db.run(_DROP_FILES, snippet=snippet.id)
        _keep_files(db, snippet.id, after)


def _keep_files(db: Connection, snippet_id: int, files: Sequence[File]) -> None:
    for file in files:
        db.insert(snippet_files, snippet_id=snippet_id, path=file.path, content=file.content)


def _validate(title: str, description: str | None) -> None:
    errors: dict[str, list[str]] = {}
    if not title.strip():
        errors["title"] = ["can't be blank"]
    elif len(title) > LONGEST_TITLE:
        errors["title"] = [too_long(LONGEST_TITLE)]
    if len(description or "") > LONGEST_TEXT:
        errors["description"] = [too_long(LONGEST_TEXT)]
    if errors:
        raise Invalid(**errors)


def _refuse_restricted(db: Connection, actor: Actor, visibility: str) -> None:
    if visibility in current_settings(db).restricted_visibility_levels and not actor.admin:
        raise Invalid(visibility_level=[f"{visibility} has been restricted by your administrator"])
