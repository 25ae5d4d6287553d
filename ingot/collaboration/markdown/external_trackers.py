"""References to issues in a project's external tracker."""

from collections.abc import Sequence

from ingot.collaboration.external_issues import ExternalTrackers
from ingot.core.db.connection import Connection
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.projects.projects.tables import Project


def external_tracker_links(
    db: Connection, project: Project | None, references: Sequence[Reference]
) -> dict[Reference, Link]:
    """Return links to the project's external issue tracker; these references are not resolved to local issues."""
    candidates = [reference for reference in references if reference.kind in ("issue", "external_issue")]
    if not candidates or project is None:
        return {}
    tracker = db.ports[ExternalTrackers].tracker_or_none(db, project.id)
    if tracker is None:
        return {}
    issue_ids = {reference: tracker.issue_id_of(reference) for reference in candidates}
    return {
        reference: Link(tracker.issue_url(issue_id), f"Issue in {tracker.title}")
        for reference, issue_id in issue_ids.items()
        if issue_id is not None
    }
