"""What topics do when projects change."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.projects.events import ProjectDeleted, ProjectTagged
from ingot.topics.queries import keys_of_project, topic_id_by_key
from ingot.topics.service import drop_unused, name_topic, take_topics

subscriptions = Subscriptions()


@subscriptions.on(ProjectTagged)
def follow_project(db: Connection, event: ProjectTagged) -> None:
    """Each name that a project carries is a topic; one that the last project dropped is none any more."""
    for key, name in event.added.items():
        if topic_id_by_key(db, key) is None:
            name_topic(db, name)
    if event.dropped:
        drop_unused(db, event.dropped)


@subscriptions.on(ProjectDeleted)
def go_with_project(db: Connection, event: ProjectDeleted) -> None:
    """Names go with the last project that carried them."""
    keys = keys_of_project(db, event.project_id)
    if keys:
        take_topics(db, event.project_id)
        drop_unused(db, keys)
