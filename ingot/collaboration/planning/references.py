"""Issues and merge requests that a text refers to, by project and iid."""

from collections.abc import Iterable
from typing import NamedTuple

from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.references import Reference, ReferenceKind, full_project_path
from ingot.projects.projects.queries import visible_projects_by_path

MAX_REFERENCES = 50
"""References of one kind in one text beyond this number have no effect."""


class ReferencedIids(NamedTuple):
    """Projects that a text refers to and the actor may see, and the iids within them, each once."""

    scopes: list[ProjectScope]
    iids: list[tuple[int, int]]
    """Pairs of a project's id and an iid."""


def referenced_iids(
    db: Connection,
    actor: Actor,
    own: str,
    references: Iterable[Reference],
    kind: ReferenceKind,
    most: int = MAX_REFERENCES,
) -> ReferencedIids:
    """Return the targets of the references of one kind in a text of the project ``own``.

    The caller checks whether an issuable with such an iid exists.
    """
    targets: dict[tuple[str, int], None] = {}
    for reference in references:
        if reference.kind == kind and reference.number is not None and len(targets) < most:
            targets[full_project_path(reference, own).lower(), reference.number] = None
    visible = visible_projects_by_path(db, actor, {path for path, _ in targets}) if targets else {}
    iids = [(visible[path].project.id, iid) for path, iid in targets if path in visible]
    return ReferencedIids([ProjectScope(lookup.access, lookup.project) for lookup in visible.values()], iids)
