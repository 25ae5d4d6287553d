"""Storage of snippets with their files, notes and award emoji."""

from collections.abc import Sequence
from typing import Any

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.collaboration.snippets.contents import SnippetFileContent, check_files, default_path
from ingot.collaboration.snippets.service import MAX_TITLE_LENGTH
from ingot.collaboration.snippets.tables import snippet_files, snippets
from ingot.core.errors import Invalid
from ingot.import_export.records import SnippetRecord
from ingot.import_export.target.awards import store_awards
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.notes import DiscussedSubject, store_discussions
from ingot.import_export.target.rows import (
    Relation,
    insert_rows,
    moment,
    replace_rows,
    rows_by_ids,
    update_rows,
)
from ingot.import_export.target.text import clean, limited

_KIND = "snippet"
_FILES = Relation(snippet_files, "snippet_id", ("snippet_id", "path", "content"))


def store_snippets(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store snippets; those whose files cannot form a snippet are refused."""
    db = context.db
    files = {change.key: _files(context, change) for change in changes}
    kept = [change for change in changes if files[change.key]]
    known = rows_by_ids(db, snippets, {change.local_id for change in kept if change.local_id}, "id")
    columns = {change.key: _columns(context, change.record) for change in kept}
    changed = [change for change in kept if change.local_id in known]
    update_rows(db, snippets, [(change.local_id or 0, columns[change.key]) for change in changed])
    new = [change.key for change in kept if change.local_id not in known]
    origin = {"project_id": context.project.id, "user_agent": "", "ip_address": ""}
    rows = [{**origin, **columns[key]} for key in new]
    ids = dict(zip(new, insert_rows(db, snippets, rows), strict=True))
    ids |= {change.key: change.local_id for change in changed if change.local_id}
    existing = [change.local_id for change in changed if change.local_id]
    stored = [
        {"snippet_id": ids[change.key], "path": file.path, "content": file.content}
        for change in kept
        for file in files[change.key]
    ]
    replace_rows(db, _FILES, existing, stored)
    store_awards(
        context, _KIND, [(ids[change.key], change.record.awards, ids[change.key] not in known) for change in kept]
    )
    subjects = [
        DiscussedSubject(
            _KIND, ids[change.key], change.key, change.record.discussions, is_new=ids[change.key] not in known
        )
        for change in kept
    ]
    store_discussions(context, _KIND, subjects)
    return {change.key: ids.get(change.key) for change in changes}


def _files(context: StoreContext, change: Change) -> list[SnippetFileContent]:
    record: SnippetRecord = change.record
    given = [(file.path, file.content) for file in record.files] or [(record.file_name, record.content)]
    files = [
        SnippetFileContent(clean(path).strip() or default_path(number), clean(content))
        for number, (path, content) in enumerate(given, 1)
    ]
    try:
        check_files(files, cached_all_settings(context.db).snippet_size_limit)
    except Invalid as error:
        context.problem(f"The snippet {record.title!r} was omitted: {error}.")
        return []
    return files


def _columns(context: StoreContext, record: SnippetRecord) -> dict[str, Any]:
    created_at = moment(record.created_at, context.db.now)
    return {
        "author_id": context.user(record.author),
        "title": limited(record.title, MAX_TITLE_LENGTH) or "Untitled",
        "description": context.rewrite(record.description).text or None,
        "visibility": record.visibility if record.visibility in ("private", "internal", "public") else "private",
        "created_at": created_at,
        "updated_at": moment(record.updated_at, created_at),
    }
