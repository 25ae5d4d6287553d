"""Avatars, at the URLs that the API returns as ``avatar_url``."""

from ingot.accounts.appearance.records import appearance_image_id
from ingot.accounts.avatars.views import avatar_file
from ingot.accounts.users.views import user_avatar_id
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.projects import api as projects_api
from ingot.projects.topics.views import topic_avatar_id
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, Visit
from ingot.web.request_auth import client_of

pages = PageRoutes()


@pages.get("/uploads/-/system/group/avatar/:id/:file", open=True)
def show_group_avatar(visit: Visit, db: Connection) -> PageResponse:
    """Return the avatar of a group, for users with permission to see the group."""
    group = client_of(visit, db).find(group_projects_api.get_group, {"id": visit.request.path["id"]})
    return _picture(visit, db, group.avatar_id)


@pages.get("/uploads/-/system/topic/avatar/:id/:file", open=True)
def show_topic_avatar(visit: Visit, db: Connection) -> PageResponse:
    """Return the avatar of a topic; topics are public."""
    return _picture(visit, db, topic_avatar_id(db, path_number(visit.request.path, "id")))


@pages.get("/uploads/-/system/project/avatar/:id/:file", open=True)
def show_project_avatar(visit: Visit, db: Connection) -> PageResponse:
    """Return the avatar of a project, for users with permission to see the project."""
    lookup = client_of(visit, db).find(projects_api.get_project, {"id": visit.request.path["id"]})
    return _picture(visit, db, lookup.project.avatar_id)


@pages.get("/uploads/-/system/user/avatar/:id/:file", open=True, with_expired_password=True)
def show_user_avatar(visit: Visit, db: Connection) -> PageResponse:
    """Return the avatar of a user; the upload was checked to be an image that contains no scripts."""
    return _picture(visit, db, user_avatar_id(db, visit.request.path["id"]))


@pages.get("/uploads/-/system/appearance/:name/:id/:file", open=True, with_expired_password=True)
def show_appearance_image(visit: Visit, db: Connection) -> PageResponse:
    """Return an image of the appearance, which the sign-in page shows to everyone."""
    path = visit.request.path
    return _picture(visit, db, appearance_image_id(db, path["name"], path_number(path, "id")))


def _picture(visit: Visit, db: Connection, avatar_id: int | None) -> PageResponse:
    avatar = avatar_file(db, avatar_id, visit.request.path["file"])
    return BytesResponse(avatar.content, avatar.content_type, [(b"cache-control", b"private, max-age=300")])
