"""Subscribers that update topics when projects change."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.events import ProjectDeleted, ProjectTopicsChanged
from ingot.projects.topics.queries import topic_id_by_key_or_none, topic_keys_of_project
from ingot.projects.topics.service import delete_unused_topics, ensure_topic, remove_topics_of_project

subscriptions = Subscriptions()


@subscriptions.on(ProjectTopicsChanged)
def update_topics_of_project(db: Connection, event: ProjectTopicsChanged) -> None:
    """Create topics for names that a project added, and delete topics that no project uses any more."""
    for key, name in event.added.items():
        if topic_id_by_key_or_none(db, key) is None:
            ensure_topic(db, name)
    if event.removed:
        delete_unused_topics(db, event.removed)


@subscriptions.on(ProjectDeleted)
def delete_topics_with_project(db: Connection, event: ProjectDeleted) -> None:
    """Remove the topics of a deleted project, and delete those that no project uses any more."""
    keys = topic_keys_of_project(db, event.project_id)
    if keys:
        remove_topics_of_project(db, event.project_id)
        delete_unused_topics(db, keys)
