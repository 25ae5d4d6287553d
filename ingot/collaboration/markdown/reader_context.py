"""Context of references: the reader, the project of the text and the projects that it references."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference, ReferenceKind, full_project_path
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.policy import ProjectLookup
from ingot.projects.projects.queries import find_project_lookup, visible_projects_by_path
from ingot.projects.projects.tables import Project

MAX_PROJECTS = 50
"""Limit of projects resolved per text; references to further projects stay plain text."""
KINDS_WITHOUT_PROJECT: frozenset[ReferenceKind] = frozenset({"user"})
"""Kinds whose names do not depend on the project of the text."""


class ReferenceContext(NamedTuple):
    """Reader and project of a text."""

    db: Connection
    actor: Actor
    base_url: str
    project: Project | None
    store: RepositoryStore | None = None
    """Repositories; without it, commits are not resolved."""


class ProjectReference(NamedTuple):
    """A reference and its project, which is visible to the reader."""

    reference: Reference
    access: Access
    project: Project

    def url(self, reader: ReferenceContext, path: str) -> str:
        """Return the URL of a page of this project."""
        return f"{reader.base_url}/{self.project.full_path}/{path}"

    def text(self, reader: ReferenceContext, sign: str) -> str | None:
        """Return the short form that replaces a URL, with the project's path if it is another project.

        None for other references.
        """
        if self.reference.url is None:
            return None
        is_local = reader.project is not None and reader.project.id == self.project.id
        return sign if is_local else f"{self.project.full_path}{sign}"


Finder = Callable[[ReferenceContext, Sequence[ProjectReference]], Mapping[Reference, Link]]
"""Returns the links of all references of one kind, without targets hidden from the reader.

The number of statements does not depend on the number of references.
"""


def visible_project_references(reader: ReferenceContext, references: Sequence[Reference]) -> list[ProjectReference]:
    """Return the references into projects that the reader may see; one statement for all, none for the own project."""
    own = reader.project.full_path if reader.project else ""
    paths: dict[str, list[Reference]] = {}
    for reference in references:
        path = full_project_path(reference, own).lower()
        if "/" in path and (path in paths or len(paths) < MAX_PROJECTS):
            paths.setdefault(path, []).append(reference)
    if not paths:
        return []
    visible = _seen(reader, paths)
    return [
        ProjectReference(reference, visible[path].access, visible[path].project)
        for path, project_references in paths.items()
        if path in visible
        for reference in project_references
    ]


def _seen(reader: ReferenceContext, paths: Collection[str]) -> dict[str, ProjectLookup]:
    """Find the projects at these folded paths that the reader may see."""
    seen: dict[str, ProjectLookup] = {}
    own = reader.project
    if own is not None and own.full_path.lower() in paths:
        try:
            seen[own.full_path.lower()] = find_project_lookup(reader.db, reader.actor, own.id)
        except NotFound:
            pass  # Texts are also rendered for readers who may not see their project any more.
    others = [path for path in paths if own is None or path != own.full_path.lower()]
    return seen | (visible_projects_by_path(reader.db, reader.actor, others) if others else {})
