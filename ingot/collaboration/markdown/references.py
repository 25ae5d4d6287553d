"""Links of the references in a text, for packages that cannot know every kind of object."""

from collections.abc import Sequence

from ingot.collaboration.markdown.queries import resolve_references
from ingot.collaboration.markdown.reader_context import ReferenceContext
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import Project


def find_links(
    db: Connection,
    actor: Actor,
    base_url: str,
    project: Project | None,
    store: RepositoryStore,
    references: Sequence[Reference],
) -> list[Link | None]:
    """Return the link of each reference in a text, or None where the reader may not see its target."""
    return resolve_references(ReferenceContext(db, actor, base_url, project, store), references)
