"""Pictures, as the API's ``avatar_url`` names them."""

from ingot.api.params import path_number
from ingot.avatars.queries import avatar_or_none
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.groups.queries import find_group
from ingot.projects.queries import find_project
from ingot.topics.queries import topic_avatar
from ingot.users.accounts.queries import find_user
from ingot.web.callers import caller_of
from ingot.web.pages import File, Pages, Reply, Visit

pages = Pages()


@pages.get("/uploads/-/system/group/avatar/:id/:file", open=True)
def show_group_avatar(visit: Visit, db: Connection) -> Reply:
    """The picture of a group, for those who may see it."""
    _, group = find_group(db, caller_of(visit, db), visit.path["id"])
    return _picture(visit, db, group.avatar_id)


@pages.get("/uploads/-/system/topic/avatar/:id/:file", open=True)
def show_topic_avatar(visit: Visit, db: Connection) -> Reply:
    """The picture of a topic; topics are open to everybody."""
    return _picture(visit, db, topic_avatar(db, path_number(visit.path, "id")))


@pages.get("/uploads/-/system/project/avatar/:id/:file", open=True)
def show_project_avatar(visit: Visit, db: Connection) -> Reply:
    """The picture of a project, for those who may see it."""
    _, project = find_project(db, caller_of(visit, db), visit.path["id"])
    return _picture(visit, db, project.avatar_id)


@pages.get("/uploads/-/system/user/avatar/:id/:file", open=True)
def show_user_avatar(visit: Visit, db: Connection) -> Reply:
    """The picture of a user; its bytes were checked when it was stored, and nothing in it can run."""
    return _picture(visit, db, find_user(db, visit.path["id"]).avatar_id)


def _picture(visit: Visit, db: Connection, avatar_id: int | None) -> Reply:
    avatar = avatar_or_none(db, avatar_id) if avatar_id is not None else None
    if avatar is None or avatar.file_name != visit.path["file"]:
        raise NotFound("Avatar")
    return File(avatar.content, avatar.content_type, [(b"cache-control", b"private, max-age=300")])
