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

    Whether an issuable with such an iid exists is for its package to say.
    """
    wanted: dict[tuple[str, int], None] = {}
    for one in references:
        if one.kind == kind and one.number is not None and len(wanted) < most:
            wanted[full_project_path(one, own).lower(), one.number] = None
    seen = visible_projects_by_path(db, actor, {path for path, _ in wanted}) if wanted else {}
    iids = [(seen[path].project.id, iid) for path, iid in wanted if path in seen]
    return ReferencedIids([ProjectScope(one.here, one.project) for one in seen.values()], iids)
