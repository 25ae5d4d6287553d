"""Events of projects."""

from collections.abc import Sequence

from ingot.core.access.actor import Actor
from ingot.core.events.bus import Event
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project


class ProjectCreated(Event, frozen=True):
    """Creation of a project; ``forked_from_id`` is set for a fork."""

    project_id: int
    actor_id: int
    forked_from_id: int | None = None


class ProjectInitialized(Event, frozen=True):
    """First commit of a new project, written before its row."""

    project_id: int
    actor_id: int
    update: RefUpdate


class ProjectEdited(Event, frozen=True):
    """Change of a project's settings; a change of its path is a ``ProjectMoved`` event."""

    project_id: int


class ProjectMoved(Event, frozen=True):
    """Change of a project's full path."""

    project_id: int
    old_full_path: str


class ProjectDeleted(Event, frozen=True):
    """Deletion of a project, which is no longer visible; a job removes its rows and files later."""

    project_id: int
    repository_key: str


class ProjectTopicsChanged(Event, frozen=True):
    """Change of a project's topics: added names by case-folded name, and removed case-folded names."""

    project_id: int
    added: dict[str, str]
    removed: list[str]


class ResolveLinks(Event, frozen=True):
    """A port to who knows all rooms: what the references of a project's text lead to, for who reads it.

    As many links as there are references are put into ``found``; nothing stands for what is not there for the reader.
    """

    actor: Actor
    project: Project
    base_url: str
    store: RepositoryStore
    references: Sequence[Reference]
    found: list[Link | None]


class DefaultBranchChanging(Event, frozen=True):
    """A port to rooms above, asked while the project's row is held: does nobody delete this branch right now?

    Whoever knows of one raises.
    """

    project_id: int
    branch: str
