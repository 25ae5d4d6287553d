"""What is announced of projects."""

from collections.abc import Sequence

from ingot.core.access.actor import Actor
from ingot.core.events.bus import Event
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project


class ProjectCreated(Event, frozen=True):
    """A project exists now; ``forked_from_id`` where it is a fork."""

    project_id: int
    actor_id: int
    forked_from_id: int | None = None


class ProjectInitialized(Event, frozen=True):
    """A new project has its first commit, which was made ahead of its row."""

    project_id: int
    actor_id: int
    update: RefUpdate


class ProjectEdited(Event, frozen=True):
    """Something about a project is different; where it lies is announced by itself."""

    project_id: int


class ProjectMoved(Event, frozen=True):
    """A project has another full path."""

    project_id: int
    old_full_path: str


class ProjectDeleted(Event, frozen=True):
    """A project is gone for everybody; its rows and files go by a job."""

    project_id: int
    repository_key: str


class ProjectTopicsChanged(Event, frozen=True):
    """A project carries other topics: the names that came, by their folded spelling, and the spellings that went."""

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
