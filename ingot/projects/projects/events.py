"""What is announced of projects."""

from ingot.core.events.bus import Event
from ingot.git.writing.ref_updates import RefUpdate


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
