"""Topics of a project."""

from collections.abc import Sequence

from msgspec import UNSET
from sqlalchemy import bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.core.events.bus import emit
from ingot.projects.projects.events import ProjectTopicsChanged
from ingot.projects.projects.params import ProjectAttributes
from ingot.projects.projects.tables import Project, project_topics

MAX_LENGTH = 255
MAX_TOPICS = 100
"""Each one is a row, and changes the page of its topic."""
_OF_PROJECT = project_topics.c.project_id == bindparam("project")
_DROP_TOPICS = delete(project_topics).where(_OF_PROJECT)
_KEYS = select(project_topics.c.name_key).where(_OF_PROJECT)


def set_topics(db: Connection, project: Project, params: ProjectAttributes) -> None:
    """Replace the topics of a project by those in the parameters, if given."""
    names = params.topics if params.topics is not UNSET else params.tag_list
    if names is UNSET:
        return
    topics = _topics(names or ())
    before = {row[0] for row in db.rows(_KEYS, project=project.id)}
    db.run(_DROP_TOPICS, project=project.id)
    for key, topic in topics.items():
        db.insert_row(project_topics, project_id=project.id, name=topic, name_key=key)
    added = {key: topic for key, topic in topics.items() if key not in before}
    if added or before - topics.keys():
        emit(db, ProjectTopicsChanged(project_id=project.id, added=added, removed=sorted(before - topics.keys())))


def _topics(names: Sequence[str]) -> dict[str, str]:
    too_many = Invalid(topics=[f"cannot be more than {MAX_TOPICS}"])
    if sum(len(name) + 1 for name in names) > MAX_TOPICS * (MAX_LENGTH + 1):
        raise too_many
    topics: dict[str, str] = {}
    for part in (part for topic in names for part in topic.split(",")):
        topic = " ".join(part.split())
        if not topic.isprintable():
            raise Invalid(topics=["cannot contain control characters"])
        if len(topic) > MAX_LENGTH:
            raise Invalid(topics=[too_long_message(MAX_LENGTH)])
        # Among names that differ only in case, the first takes precedence.
        topics.setdefault(topic.casefold(), topic)
    topics.pop("", None)
    if len(topics) > MAX_TOPICS:
        raise too_many
    return topics
