"""State changes of topics; renames, merges and deletions also update the topics of projects."""

from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete, exists, select, update

from ingot.accounts.avatars.service import delete_avatar, replace_avatar
from ingot.core.access.actor import Actor
from ingot.core.api.params import Upload
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Invalid, too_long_message
from ingot.projects.projects.tables import project_topics
from ingot.projects.topics.params import CreateTopic, EditTopic
from ingot.projects.topics.queries import find_topic, topic_by_name_or_none, topic_id_by_key_or_none
from ingot.projects.topics.tables import Topic, topics

MAX_LENGTH = 255
MAX_DESCRIPTION_LENGTH = 1024

_target_uses = project_topics.alias()
_DELETE_USES = delete(project_topics).where(project_topics.c.name_key == bindparam("old_key"))
# A project that has both topics must not get the target topic twice.
_DELETE_DUPLICATE_USES = _DELETE_USES.where(
    project_topics.c.project_id.in_(
        select(_target_uses.c.project_id).where(_target_uses.c.name_key == bindparam("new_key"))
    )
)
_DELETE_PROJECT_TOPICS = delete(project_topics).where(project_topics.c.project_id == bindparam("project"))
_DELETE_UNUSED = delete(topics).where(
    topics.c.described.is_(False),
    in_list(topics.c.name_key, "keys"),
    ~exists().where(project_topics.c.name_key == topics.c.name_key),
)
_RENAME_USES = (
    update(project_topics)
    .where(project_topics.c.name_key == bindparam("old_key"))
    .values(name=bindparam("new_name"), name_key=bindparam("new_key"))
)


def create_topic(db: Connection, actor: Actor, params: CreateTopic) -> Topic:
    """Create a topic, or add a description to a name that projects already use, which keeps its id."""
    name = params.name.strip()
    title = (params.title or "").strip() or name
    _validate(name, title, params.description)
    existing = topic_by_name_or_none(db, actor, name)
    if existing is not None and existing.described:
        raise Invalid(name=["has already been taken"])
    topic_id = topic_id_by_key_or_none(db, name.casefold()) or ensure_topic(db, name)
    db.update(topics, topic_id, **_topic_columns(db, name, title, params.description))
    if params.avatar is not None:
        _set_avatar(db, topic_id, None, params.avatar)
    return find_topic(db, actor, topic_id)


def edit_topic(db: Connection, actor: Actor, topic: Topic, params: EditTopic) -> Topic:
    """Change the given fields; a new name replaces the old one in all projects."""
    name = topic.name if params.name is UNSET else params.name.strip()
    title = topic.title if params.title is UNSET else params.title.strip()
    description = topic.description if params.description is UNSET else params.description
    _validate(name, title, description)
    if name.casefold() != topic.name_key and topic_by_name_or_none(db, actor, name) is not None:
        raise Invalid(name=["has already been taken"])
    if name.casefold() != topic.name_key:
        _delete_invisible_topic(db, name.casefold())
    db.update(topics, topic.id, **_topic_columns(db, name, title, description))
    if name != topic.name:
        db.run(_RENAME_USES, old_key=topic.name_key, new_name=name, new_key=name.casefold())
    if params.avatar is not UNSET:
        _set_avatar(db, topic.id, topic.avatar_id, params.avatar)
    return find_topic(db, actor, topic.id)


def merge_topics(db: Connection, source: Topic, target: Topic) -> None:
    """Replace a topic by another one in all projects, then delete it."""
    if source.name_key == target.name_key:
        raise Invalid("400 (Bad request) a topic cannot be merged into itself")
    db.run(_DELETE_DUPLICATE_USES, old_key=source.name_key, new_key=target.name_key)
    db.run(_RENAME_USES, old_key=source.name_key, new_name=target.name, new_key=target.name_key)
    delete_topic(db, source)


def delete_topic(db: Connection, topic: Topic) -> None:
    """Delete a topic and remove it from all projects."""
    db.run(_DELETE_USES, old_key=topic.name_key)
    db.delete(topics, topic.id)
    delete_avatar(db, topic.avatar_id)


def ensure_topic(db: Connection, name: str) -> int:
    """Create a topic without a description for a name that projects use; return its id."""
    return db.insert(topics, **_names(name, name), described=False, created_at=db.now, updated_at=db.now)


def remove_topics_of_project(db: Connection, project_id: int) -> None:
    """Remove all topics from a project."""
    db.run(_DELETE_PROJECT_TOPICS, project=project_id)


def delete_unused_topics(db: Connection, name_keys: list[str]) -> None:
    """Delete those topics that have no description and no project."""
    db.run(_DELETE_UNUSED, keys=name_keys)


def _delete_invisible_topic(db: Connection, name_key: str) -> None:
    """Delete a topic that only projects being deleted still use, so that its name is free."""
    topic_id = topic_id_by_key_or_none(db, name_key)
    if topic_id is not None:
        db.run(_DELETE_USES, old_key=name_key)
        db.delete(topics, topic_id)


def _topic_columns(db: Connection, name: str, title: str, description: str | None) -> dict[str, Any]:
    return {**_names(name, title), "description": description, "described": True, "updated_at": db.now}


def _names(name: str, title: str) -> dict[str, Any]:
    return {"name": name, "name_key": name.casefold(), "title": title, "title_key": title.casefold()}


def _validate(name: str, title: str, description: str | None) -> None:
    errors: dict[str, list[str]] = {}
    for field, text in (("name", name), ("title", title)):
        if not text:
            errors[field] = ["can't be blank"]
        elif len(text) > MAX_LENGTH:
            errors[field] = [too_long_message(MAX_LENGTH)]
    # Lists of topics are separated by commas, and shown in one line.
    if not name.isprintable() or "," in name:
        errors["name"] = ["cannot contain commas or control characters"]
    if len(description or "") > MAX_DESCRIPTION_LENGTH:
        errors["description"] = [too_long_message(MAX_DESCRIPTION_LENGTH)]
    if errors:
        raise Invalid(**errors)


def _set_avatar(db: Connection, topic_id: int, avatar_id: int | None, upload: Upload | None) -> None:
    replace_avatar(db, topics, topic_id, avatar_id, upload)
