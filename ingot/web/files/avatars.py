"""Pictures, as the API's ``avatar_url`` names them."""

from ingot.accounts.avatars.queries import avatar_or_none
from ingot.accounts.users.queries import find_user
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.projects.groups.queries import find_group
from ingot.projects.projects.queries import find_project
from ingot.projects.topics.queries import topic_avatar_or_none
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, Visit
from ingot.web.request_auth import authenticated_caller

pages = PageRoutes()


@pages.get("/uploads/-/system/group/avatar/:id/:file", open=True)
def show_group_avatar(visit: Visit, db: Connection) -> PageResponse:
    """The picture of a group, for those who may see it."""
    _, group = find_group(db, authenticated_caller(visit, db), visit.path["id"])
    return _picture(visit, db, group.avatar_id)


@pages.get("/uploads/-/system/topic/avatar/:id/:file", open=True)
def show_topic_avatar(visit: Visit, db: Connection) -> PageResponse:
    """The picture of a topic; topics are open to everybody."""
    return _picture(visit, db, topic_avatar_or_none(db, path_number(visit.path, "id")))


@pages.get("/uploads/-/system/project/avatar/:id/:file", open=True)
def show_project_avatar(visit: Visit, db: Connection) -> PageResponse:
    """The picture of a project, for those who may see it."""
    _, project = find_project(db, authenticated_caller(visit, db), visit.path["id"])
    return _picture(visit, db, project.avatar_id)


@pages.get("/uploads/-/system/user/avatar/:id/:file", open=True)
def show_user_avatar(visit: Visit, db: Connection) -> PageResponse:
    """The picture of a user; its bytes were checked when it was stored, and nothing in it can run."""
    return _picture(visit, db, find_user(db, visit.path["id"]).avatar_id)


def _picture(visit: Visit, db: Connection, avatar_id: int | None) -> PageResponse:
    avatar = avatar_or_none(db, avatar_id) if avatar_id is not None else None
    if avatar is None or avatar.file_name != visit.path["file"]:
        raise NotFound("Avatar")
    return BytesResponse(avatar.content, avatar.content_type, [(b"cache-control", b"private, max-age=300")])
