"""What changes topics: describing, renaming, merging and removing them; the projects' own names follow."""

from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete, exists, select, update

from ingot.access.actor import Actor
from ingot.api.params import Upload
from ingot.avatars.service import drop_avatar, replace_avatar
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.errors import Invalid, too_long
from ingot.projects.tables import project_topics
from ingot.topics.params import CreateTopic, EditTopic
from ingot.topics.queries import find_topic, topic_by_name, topic_id_by_key
from ingot.topics.tables import Topic, topics

MOST_CHARACTERS = 255
LONGEST_DESCRIPTION = 1024

_of_target = project_topics.alias()
_DROP_USES = delete(project_topics).where(project_topics.c.name_key == bindparam("old_key"))
# A project that carries both names keeps the one that stays.
_DROP_DOUBLES = _DROP_USES.where(
    project_topics.c.project_id.in_(
        select(_of_target.c.project_id).where(_of_target.c.name_key == bindparam("new_key"))
    )
)
_TAKE = delete(project_topics).where(project_topics.c.project_id == bindparam("project"))
_DROP_UNUSED = delete(topics).where(
    topics.c.described.is_(False),
    any_of(topics.c.name_key, "keys"),
    ~exists().where(project_topics.c.name_key == topics.c.name_key),
)
_RENAME_USES = (
    update(project_topics)
    .where(project_topics.c.name_key == bindparam("old_key"))
    .values(name=bindparam("new_name"), name_key=bindparam("new_key"))
)


def create_topic(db: Connection, actor: Actor, wanted: CreateTopic) -> Topic:
    """Describe a topic; one of which there is only a name may be described, too, and keeps its id."""
    name = wanted.name.strip()
    title = (wanted.title or "").strip() or name
    _validate(name, title, wanted.description)
    held = topic_by_name(db, actor, name)
    if held is not None and held.described:
        raise Invalid(name=["has already been taken"])
    topic_id = topic_id_by_key(db, name.casefold()) or name_topic(db, name)
    db.update(topics, topic_id, **_described(db, name, title, wanted.description))
    if wanted.avatar is not None:
        _set_avatar(db, topic_id, None, wanted.avatar)
    return find_topic(db, actor, topic_id)


def edit_topic(db: Connection, actor: Actor, topic: Topic, wanted: EditTopic) -> Topic:
    """Change what was sent; another name is then the name in all projects."""
    name = topic.name if wanted.name is UNSET else wanted.name.strip()
    title = topic.title if wanted.title is UNSET else wanted.title.strip()
    description = topic.description if wanted.description is UNSET else wanted.description
    _validate(name, title, description)
    if name.casefold() != topic.name_key and topic_by_name(db, actor, name) is not None:
        raise Invalid(name=["has already been taken"])
    if name.casefold() != topic.name_key:
        _drop_unseen(db, name.casefold())
    db.update(topics, topic.id, **_described(db, name, title, description))
    if name != topic.name:
        db.run(_RENAME_USES, old_key=topic.name_key, new_name=name, new_key=name.casefold())
    if wanted.avatar is not UNSET:
        _set_avatar(db, topic.id, topic.avatar_id, wanted.avatar)
    return find_topic(db, actor, topic.id)


def merge_topics(db: Connection, source: Topic, target: Topic) -> None:
    """Let all projects of one topic carry another one instead, and remove the first."""
    if source.name_key == target.name_key:
        raise Invalid("400 (Bad request) a topic cannot be merged into itself")
    db.run(_DROP_DOUBLES, old_key=source.name_key, new_key=target.name_key)
    db.run(_RENAME_USES, old_key=source.name_key, new_name=target.name, new_key=target.name_key)
    delete_topic(db, source)


def delete_topic(db: Connection, topic: Topic) -> None:
    """Remove a topic, and its name from all projects."""
    db.run(_DROP_USES, old_key=topic.name_key)
    db.delete(topics, topic.id)
    drop_avatar(db, topic.avatar_id)


def name_topic(db: Connection, name: str) -> int:
    """Give a name that projects carry a row, and with it an id that stays; whoever describes it finds that."""
    return db.insert(topics, **_names(name, name), described=False, created_at=db.now, updated_at=db.now)


def take_topics(db: Connection, project_id: int) -> None:
    """Let a project carry no topic any more."""
    db.run(_TAKE, project=project_id)


def drop_unused(db: Connection, name_keys: list[str]) -> None:
    """Forget those of the names that nobody described and no project carries any more."""
    db.run(_DROP_UNUSED, keys=name_keys)


def _drop_unseen(db: Connection, name_key: str) -> None:
    """Make way for a name that nobody sees as taken: only projects that are being removed still carry it."""
    topic_id = topic_id_by_key(db, name_key)
    if topic_id is not None:
        db.run(_DROP_USES, old_key=name_key)
        db.delete(topics, topic_id)


def _described(db: Connection, name: str, title: str, description: str | None) -> dict[str, Any]:
    return {**_names(name, title), "description": description, "described": True, "updated_at": db.now}


def _names(name: str, title: str) -> dict[str, Any]:
    return {"name": name, "name_key": name.casefold(), "title": title, "title_key": title.casefold()}


def _validate(name: str, title: str, description: str | None) -> None:
    errors: dict[str, list[str]] = {}
    for field, text in (("name", name), ("title", title)):
        if not text:
            errors[field] = ["can't be blank"]
        elif len(text) > MOST_CHARACTERS:
            errors[field] = [too_long(MOST_CHARACTERS)]
    # Lists of topics are separated by commas, and shown in one line.
    if not name.isprintable() or "," in name:
        errors["name"] = ["cannot contain commas or control characters"]
    if len(description or "") > LONGEST_DESCRIPTION:
        errors["description"] = [too_long(LONGEST_DESCRIPTION)]
    if errors:
        raise Invalid(**errors)


def _set_avatar(db: Connection, topic_id: int, held: int | None, upload: Upload | None) -> None:
    replace_avatar(db, topics, topic_id, held, upload)
