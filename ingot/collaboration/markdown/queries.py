"""Resolution of references for a reader, with a fixed number of statements per kind."""

from collections.abc import Sequence

from ingot.collaboration.markdown import finders
from ingot.collaboration.markdown.external_trackers import external_tracker_links
from ingot.collaboration.markdown.reader_context import (
    KINDS_WITHOUT_PROJECT,
    Finder,
    ReferenceContext,
    visible_project_references,
)
from ingot.collaboration.markdown.user_mentions import find_mentions
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference, ReferenceKind

# Finders by kind of reference; new kinds are added here.
_FINDERS: dict[ReferenceKind, Finder] = {
    "issue": finders.find_issues,
    "merge_request": finders.find_merge_requests,
    "label": finders.find_labels,
    "milestone": finders.find_milestones,
    "snippet": finders.find_snippets,
    "commit": finders.find_commits,
    "commit_range": finders.find_commit_ranges,
}


def resolve_references(reader: ReferenceContext, references: Sequence[Reference]) -> list[Link | None]:
    """Return the link of each reference; None if its target does not exist or is hidden from the reader."""
    links = external_tracker_links(reader.db, reader.project, references)
    local = [reference for reference in references if reference not in links]
    mentions = [reference for reference in local if reference.kind in KINDS_WITHOUT_PROJECT]
    if mentions:
        links.update(find_mentions(reader, mentions))
    project_kinds = [reference for reference in local if reference.kind in _FINDERS]
    in_projects = visible_project_references(reader, project_kinds) if project_kinds else []
    for kind, find in _FINDERS.items():
        of_kind = [entry for entry in in_projects if entry.reference.kind == kind]
        if of_kind:
            links.update(find(reader, of_kind))
    return [links.get(reference) for reference in references]
