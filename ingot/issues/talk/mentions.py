"""Recording below an issue where it is mentioned."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.issues.policy import may_read_issues
from ingot.issues.queries import issue_or_none
from ingot.issues.service import subject_of
from ingot.issues.tables import Issue
from ingot.markup.references import full_project_path, references
from ingot.notes.service import Source, add_mention
from ingot.projects.queries import find_project, paths_of_projects
from ingot.users.accounts.queries import users_by_ids
from ingot.users.accounts.tables import User

MOST_MENTIONS = 50
"""So many issues of one text hear of it; the rest is a list for readers."""


def record_mentions(db: Connection, writer_id: int, source: Issue, text: str) -> None:
    """Tell the issues that a text of ``source`` names that it does, as far as who wrote it sees them.

    What is confidential is not told to anybody, also not its number.
    """
    if source.confidential or "#" not in text:
        return
    writer = users_by_ids(db, [writer_id]).get(writer_id)
    own = paths_of_projects(db, [source.project_id])[source.project_id]
    named = {(full_project_path(one, own), one.number) for one in references(text) if one.kind == "issue"}
    for path, iid in sorted(named)[:MOST_MENTIONS]:
        target = _issue(db, writer, path, iid) if writer and iid else None
        if target is None or target.id == source.id:
            continue
        near = target.project_id == source.project_id
        add_mention(
            db,
            writer_id,
            subject_of(target),
            f"mentioned in issue {'' if near else own}#{source.iid}",
            Source("issue", source.id, source.project_id),
        )


def _issue(db: Connection, writer: User, path: str, iid: int) -> Issue | None:
    """The issue that is named, if who named it may see it."""
    actor = Actor(writer.id, writer.username, writer.name, admin=writer.admin, external=writer.external)
    try:
        here, project = find_project(db, actor, path)
    except NotFound:
        return None
    found = issue_or_none(db, actor, here, project, iid) if may_read_issues(actor, here, project) else None
    return found.issue if found else None
