"""Response structs of topics."""

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.topics.queries import topic_avatar_or_none
from ingot.projects.topics.tables import Topic


class TopicView(View):
    """Topic, with the number of its projects that the caller may see."""

    id: int
    name: str
    title: str
    description: str | None
    total_projects_count: int
    avatar_url: str | None


def topic_view(topic: Topic, base: str) -> TopicView:
    """Return the view of a topic."""
    avatar_url = f"{base}/uploads/-/system/topic/avatar/{topic.id}/{topic.avatar_file}" if topic.avatar_id else None
    return TopicView(topic.id, topic.name, topic.title, topic.description, topic.projects_count, avatar_url)


def topic_avatar_id(db: Connection, topic_id: int) -> int | None:
    """Return the id of a topic's avatar."""
    return topic_avatar_or_none(db, topic_id)
