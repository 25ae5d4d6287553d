"""Events of projects."""

from ingot.core.events.bus import Event
from ingot.git.writing.ref_updates import RefUpdate


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


class ProjectCiSettingsEdited(Event, frozen=True):
    """Change of a project's settings for CI, which another package stores; only the given ones are included."""

    project_id: int
    settings: dict[str, int | str | bool | None]


class ProjectMirrorEdited(Event, frozen=True):
    """Change of the repository that a project follows; None means that a value has not changed."""

    project_id: int
    actor_id: int
    enabled: bool | None
    url: str | None


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
