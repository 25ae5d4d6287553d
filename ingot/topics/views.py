"""What callers see of topics."""

from ingot.api.views import View
from ingot.db.connection import Connection
from ingot.topics.queries import number_of_name
from ingot.topics.tables import Topic


class TopicView(View):
    """A topic, with the number of its projects that the caller may see."""

    id: int
    name: str
    title: str
    description: str | None
    total_projects_count: int
    avatar_url: str | None


def topic_view(db: Connection, topic: Topic, base: str) -> TopicView:
    """The topic for anybody."""
    number = number_of_name(db, topic.name_key) if topic.id is None else topic.id
    avatar_url = f"{base}/uploads/-/system/topic/avatar/{topic.id}/{topic.avatar_file}" if topic.avatar_id else None
    return TopicView(number, topic.name, topic.title, topic.description, topic.projects_count, avatar_url)
