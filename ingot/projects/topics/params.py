"""What callers may send about topics."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params, Upload


class ListTopics(Params):
    """Filters of the list."""

    search: str = ""
    without_projects: bool = False


class CreateTopic(Params):
    """A new topic; its title is its name where none is given."""

    name: str
    title: str | None = None
    description: str | None = None
    avatar: Upload | None = None


class EditTopic(Params):
    """Changes of a topic."""

    name: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    avatar: Upload | UnsetType | None = UNSET


class MergeTopics(Params):
    """Which topic becomes part of which."""

    source_topic_id: int
    target_topic_id: int
