"""What projects say they are about."""

from collections.abc import Iterable

from msgspec import UNSET
from sqlalchemy import bindparam, delete, select

from ingot.db.connection import Connection
from ingot.errors import Invalid, too_long
from ingot.events.bus import emit
from ingot.projects.events import ProjectTagged
from ingot.projects.params import Attributes
from ingot.projects.tables import Project, project_topics

MOST_CHARACTERS = 255
_OF_PROJECT = project_topics.c.project_id == bindparam("project")
_DROP_TOPICS = delete(project_topics).where(_OF_PROJECT)
_KEYS = select(project_topics.c.name_key).where(_OF_PROJECT)


def set_topics(db: Connection, project: Project, wanted: Attributes) -> None:
    """Let a project carry the topics that were sent, and no others."""
    named = wanted.topics if wanted.topics is not UNSET else wanted.tag_list
    if named is UNSET:
        return
    topics = _topics(named or ())
    before = {row[0] for row in db.rows(_KEYS, project=project.id)}
    db.run(_DROP_TOPICS, project=project.id)
    for key, topic in topics.items():
        db.insert(project_topics, project_id=project.id, name=topic, name_key=key)
    added = {key: topic for key, topic in topics.items() if key not in before}
    if added or before - topics.keys():
        emit(db, ProjectTagged(project_id=project.id, added=added, dropped=sorted(before - topics.keys())))


def _topics(named: Iterable[str]) -> dict[str, str]:
    topics: dict[str, str] = {}
    for part in (part for topic in named for part in topic.split(",")):
        topic = " ".join(part.split())
        if not topic.isprintable():
            raise Invalid(topics=["cannot contain control characters"])
        if len(topic) > MOST_CHARACTERS:
            raise Invalid(topics=[too_long(MOST_CHARACTERS)])
        # Of names that differ in case only, the first is kept.
        topics.setdefault(topic.casefold(), topic)
    topics.pop("", None)
    return topics
