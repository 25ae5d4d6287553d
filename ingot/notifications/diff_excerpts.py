"""Lines of a diff that a mail about a comment on one of them quotes."""

from html import escape

from ingot.collaboration.merge_requests.versions.positions import DiffPosition, position_of
from ingot.collaboration.notes.tables import Note
from ingot.core.db.connection import Connection
from ingot.core.log import log_failure
from ingot.git.core.errors import GitError
from ingot.git.diffs.diffs import diff_between
from ingot.git.diffs.line_positions import lines_before
from ingot.git.history.commits import decode_text
from ingot.git.maintenance.store import RepositoryStore
from ingot.notifications.emails import RenderedText
from ingot.projects.namespaces.group_rules import options_around
from ingot.projects.projects.tables import Project

_CONTEXT_LINES = 4
_MAX_LINE_LENGTH = 300


def shown_position(db: Connection, project: Project, note: Note | None) -> DiffPosition | None:
    """Return the position of a comment in a diff, unless the project or a group around it hides diffs in mails."""
    position = position_of(note.position) if note is not None else None
    if position is None or position.position_type != "text" or not project.options.show_diff_preview_in_email:
        return None
    groups = options_around(db, project.namespace_id)
    return position if all(group.show_diff_preview_in_email for group in groups) else None


def excerpt_lines(store: RepositoryStore, project: Project, position: DiffPosition) -> list[str]:
    """Return the commented line after the lines before it; empty if the diff cannot be read."""
    try:
        repository = store.open(project.repository_key)
        changes = diff_between(repository, position.base_sha, position.head_sha).changes
    except GitError as error:
        log_failure("diff for a mail not read", error)
        return []
    diff = next((each.diff for each in changes if decode_text(each.new_path) == position.new_path), "")
    lines = lines_before(diff, position.old_line, position.new_line, _CONTEXT_LINES)
    return [line[:_MAX_LINE_LENGTH] for line in lines]


def with_excerpt(quoted: RenderedText, path: str, lines: list[str]) -> RenderedText:
    """Return the quoted comment after the lines of the diff that it is about."""
    if not lines:
        return quoted
    text = "\n".join([f"{path}:", *(f"> {line}" for line in lines)])
    html = f"<p>{escape(path)}</p><pre>{escape(chr(10).join(lines))}</pre>"
    return RenderedText(f"{text}\n\n{quoted.text}", f"{html}{quoted.html}")
