"""Request parameters of topics."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params, Upload


class ListTopics(Params):
    """Filters of the list of topics."""

    search: str = ""
    without_projects: bool = False


class CreateTopic(Params):
    """New topic; the title defaults to the name."""

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
    """Topic to merge and the topic that replaces it."""

    source_topic_id: int
    target_topic_id: int
