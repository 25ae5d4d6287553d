"""What references lead to, for who reads them: each kind with as many statements as it needs for one."""

from collections.abc import Sequence

from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference, ReferenceKind
from ingot.discovery.markdown import finders
from ingot.discovery.markdown.external_trackers import external_tracker_links
from ingot.discovery.markdown.reader_context import (
    KINDS_WITHOUT_PROJECT,
    Finder,
    ReferenceContext,
    visible_project_references,
)
from ingot.discovery.markdown.user_mentions import find_mentions

# A room that has something to refer to gives its finder here.
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
    """What each of them leads to; nothing where that is not there or not for the reader."""
    links = external_tracker_links(reader.db, reader.project, references)
    here = [reference for reference in references if reference not in links]
    people = [reference for reference in here if reference.kind in KINDS_WITHOUT_PROJECT]
    if people:
        links.update(find_mentions(reader, people))
    wanted = [reference for reference in here if reference.kind in _FINDERS]
    named = visible_project_references(reader, wanted) if wanted else []
    for kind, find in _FINDERS.items():
        of_kind = [one for one in named if one.reference.kind == kind]
        if of_kind:
            links.update(find(reader, of_kind))
    return [links.get(reference) for reference in references]
