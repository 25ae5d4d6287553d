"""What references lead to, for who reads them: each kind with as many statements as it needs for one."""

from collections.abc import Sequence

from ingot.markup.links import Link
from ingot.markup.references import Kind, Reference
from ingot.renderings import finders
from ingot.renderings.elsewhere import kept_elsewhere
from ingot.renderings.people import mentioned
from ingot.renderings.reading import WITHOUT_PROJECT, Finder, Reader, into_projects

# A room that has something to refer to gives its finder here.
_FINDERS: dict[Kind, Finder] = {
    "issue": finders.issues,
    "merge_request": finders.merge_requests,
    "label": finders.labels,
    "milestone": finders.milestones,
    "snippet": finders.snippets,
    "commit": finders.commits,
    "commit_range": finders.commit_ranges,
}


def links_of(reader: Reader, references: Sequence[Reference]) -> list[Link | None]:
    """What each of them leads to; nothing where that is not there or not for the reader."""
    links = kept_elsewhere(reader.db, reader.project, references)
    here = [reference for reference in references if reference not in links]
    people = [reference for reference in here if reference.kind in WITHOUT_PROJECT]
    if people:
        links.update(mentioned(reader, people))
    wanted = [reference for reference in here if reference.kind in _FINDERS]
    named = into_projects(reader, wanted) if wanted else []
    for kind, find in _FINDERS.items():
        of_kind = [one for one in named if one.reference.kind == kind]
        if of_kind:
            links.update(find(reader, of_kind))
    return [links.get(reference) for reference in references]
