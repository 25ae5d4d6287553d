"""Application of suggestions: one commit on the source branch, by a user who may push to it."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ingot.accounts.users.commit_addresses import commit_address
from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.reviews.file_lines import lines_at
from ingot.collaboration.merge_requests.reviews.queries import SuggestedChange, SuggestionSet, find_suggestions
from ingot.collaboration.merge_requests.reviews.service import mark_suggestions_applied
from ingot.collaboration.merge_requests.source_branch import pushable_source
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.versions.positions import position_of
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Invalid
from ingot.git.core.paths import path_encodings
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip
from ingot.git.history.last_commit import last_commit_id
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.entries import entry_or_none
from ingot.git.writing.commits import TreeAction
from ingot.repositories.commit_writing.write import CommitDetails, FileEdit, commit_edits
from ingot.repositories.context import RepositoryContext

_DEFAULT_MESSAGE = "Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)"
_VARIABLE = re.compile(r"%\{(\w{1,50})\}")
_NOT_OPEN = {
    "merged": "This merge request was merged. To apply this suggestion, edit this file directly.",
    "closed": "This merge request is closed. To apply this suggestion, edit this file directly.",
}
_OUTDATED = "Can't apply as this line was changed in a more recent version."
_OUTDATED_LINES = "Can't apply as these lines were changed in a more recent version."


class _ApplyContext(NamedTuple):
    suggested: SuggestionSet
    merge_request: MergeRequest
    source: RepositoryContext
    authors: list[str]
    """Names and addresses of authors of the suggestions other than the caller."""


def apply_suggestions(
    database: Database, store: RepositoryStore, actor: Actor, ids: Sequence[int], message: str | None = None
) -> SuggestionSet:
    """Apply suggestions of one merge request as one commit, and return them as they are afterwards.

    Raises ``Invalid`` if one cannot be applied, and ``Denied`` if the caller may not push to the source branch.
    """
    context = database.read(partial(_load_context, store=store, actor=actor, ids=ids))
    edits = _edits(context)
    details = CommitDetails(_commit_message(context, len(edits), message))
    branch = context.merge_request.source_branch
    try:
        commit = commit_edits(database, actor, context.source, branch, edits, details, may_be_empty=False)
    except Invalid as error:
        # The branch may have moved since the lines were compared.
        raise Conflict(f"{error.message} The source branch has changed; reload the page and try again.") from error
    database.write(partial(mark_suggestions_applied, ids=ids, oid=commit.oid))
    return database.read(lambda db: find_suggestions(db, actor, ids))


def _load_context(db: Connection, store: RepositoryStore, actor: Actor, ids: Sequence[int]) -> _ApplyContext:
    suggested = find_suggestions(db, actor, ids)
    merge_request = merge_request_by_id(db, suggested.lookup.merge_request.id)
    access, source = pushable_source(db, actor, merge_request)
    if merge_request.state != "opened":
        raise Invalid(_NOT_OPEN.get(merge_request.state, "Can't apply this suggestion."))
    author_ids = list(dict.fromkeys(change.note.author_id for change in suggested.changes))
    users = users_by_ids(db, author_ids)
    others = [users[user_id] for user_id in author_ids if user_id != actor.user_id]
    authors = [f"{author.name} <{commit_address(db, author)}>" for author in others]
    source_context = RepositoryContext(access, source, store.open(source.repository_key))
    return _ApplyContext(suggested, merge_request, source_context, authors)


def _edits(context: _ApplyContext) -> list[FileEdit]:
    """Return the new contents of the files; raise ``Invalid`` if the lines are not those that were commented on."""
    repository, branch = context.source.repository, context.merge_request.source_branch
    tip = branch_tip(repository, branch)
    if tip is None:
        raise Invalid("Can't apply as the source branch was deleted.")
    by_path: defaultdict[str, list[SuggestedChange]] = defaultdict(list)
    for change in context.suggested.changes:
        position = position_of(change.note.position)
        if position is None or change.suggestion.applied:
            raise Invalid("Can't apply this suggestion.")
        by_path[position.new_path].append(change)
    return [_file_edit(repository, tip, path, changes) for path, changes in by_path.items()]


def _file_edit(repository: Repository, tip: str, path: str, changes: Sequence[SuggestedChange]) -> FileEdit:
    lines = lines_at(repository, tip, path)
    if lines is None:
        raise Invalid("A file was not found.")
    content, below = list(lines), len(lines) + 1
    for change in sorted(changes, key=_first_line, reverse=True):
        suggestion = change.suggestion
        first, last = _first_line(change), (change.note.new_line or 0) + suggestion.lines_below
        if last >= below:
            raise Invalid("Suggestions are not applicable as their lines cannot overlap.")
        if suggestion.outdated or "".join(lines[first - 1 : last]) != suggestion.from_content:
            raise Invalid(_OUTDATED if first == last else _OUTDATED_LINES)
        if suggestion.from_content == suggestion.to_content:
            raise Invalid("This suggestion already matches its content.")
        content[first - 1 : last] = [suggestion.to_content]
        below = first
    raw = next(raw for raw in path_encodings(path) if entry_or_none(repository, tip, raw) is not None)
    action = TreeAction("update", path, content="".join(content).encode())
    return FileEdit(action, last_commit_id(repository, tip, raw) or "")


def _first_line(change: SuggestedChange) -> int:
    return max(1, (change.note.new_line or 0) - change.suggestion.lines_above)


def _commit_message(context: _ApplyContext, files: int, message: str | None) -> str:
    if message and message.strip():
        return message
    count = len(context.suggested.changes)
    template = context.source.project.options.suggestion_commit_message or _DEFAULT_MESSAGE
    variables = {
        "suggestions_count": str(count),
        "files_count": str(files),
        "branch_name": context.merge_request.source_branch,
        "project_path": context.source.project.path,
        "project_name": context.source.project.name,
    }
    subject = _VARIABLE.sub(lambda match: variables.get(match[1], match[0]), template)
    trailers = [f"Co-authored-by: {author}" for author in context.authors]
    return "\n\n".join([subject, "\n".join(trailers)]).strip() + "\n"
