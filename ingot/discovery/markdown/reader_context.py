"""Who reads a text and where it stands, and which projects it names; what each kind of reference needs to be found."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference, ReferenceKind, full_project_path
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.queries import visible_projects_by_path
from ingot.projects.projects.tables import Project

MAX_PROJECTS = 50
"""So many projects of a text count; what it says of others stays as it was written."""
KINDS_WITHOUT_PROJECT: frozenset[ReferenceKind] = frozenset({"user"})
"""What is named the same wherever a text stands."""


class ReferenceContext(NamedTuple):
    """Who reads a text, and where it stands."""

    db: Connection
    actor: Actor
    base_url: str
    project: Project | None
    store: RepositoryStore | None = None
    """Where repositories are; without it no commit is found."""


class ProjectReference(NamedTuple):
    """A reference, and the project that it leads into, which the reader may see."""

    reference: Reference
    here: Access
    project: Project

    def url(self, reader: ReferenceContext, path: str) -> str:
        """Where a page of this project is."""
        return f"{reader.base_url}/{self.project.full_path}/{path}"

    def text(self, reader: ReferenceContext, sign: str) -> str | None:
        """What stands for an address: the sign, behind the project where that is another; else what was written."""
        if self.reference.url is None:
            return None
        near = reader.project is not None and reader.project.id == self.project.id
        return sign if near else f"{self.project.full_path}{sign}"


Finder = Callable[[ReferenceContext, Sequence[ProjectReference]], Mapping[Reference, Link]]
"""Says of all references of its kind at once what they lead to; what the reader may not see is left out.

It takes as many statements as it would take for one.
"""


def visible_project_references(reader: ReferenceContext, references: Sequence[Reference]) -> list[ProjectReference]:
    """Those of the references that lead into projects that the reader may see; one statement for all of them."""
    own = reader.project.full_path if reader.project else ""
    paths: dict[str, list[Reference]] = {}
    for reference in references:
        path = full_project_path(reference, own).lower()
        if "/" in path and (path in paths or len(paths) < MAX_PROJECTS):
            paths.setdefault(path, []).append(reference)
    if not paths:
        return []
    seen = visible_projects_by_path(reader.db, reader.actor, paths)
    return [
        ProjectReference(reference, seen[path].here, seen[path].project)
        for path, named in paths.items()
        if path in seen
        for reference in named
    ]
