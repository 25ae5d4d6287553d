"""Recording below an issue where it is mentioned."""

from ingot.db.connection import Connection
from ingot.issues.naming import acting, named_issues
from ingot.issues.service import subject_of
from ingot.issues.tables import Issue
from ingot.markup.references import references
from ingot.notes.service import Source, add_mention
from ingot.projects.queries import paths_of_projects


def record_mentions(db: Connection, writer_id: int, source: Issue, text: str) -> None:
    """Tell the issues that a text of ``source`` names that it does, as far as who wrote it sees them.

    What is confidential is not told to anybody, also not its number.
    """
    if source.confidential or "#" not in text:
        return
    writer = acting(db, writer_id)
    if writer is None:
        return
    own = paths_of_projects(db, [source.project_id])[source.project_id]
    for target in named_issues(db, writer, own, references(text)):
        if target.issue.id == source.id:
            continue
        near = target.issue.project_id == source.project_id
        add_mention(
            db,
            writer_id,
            subject_of(target.issue),
            f"mentioned in issue {'' if near else own}#{source.iid}",
            Source("issue", source.id, source.project_id),
        )
