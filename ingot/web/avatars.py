"""Pictures, as the API's ``avatar_url`` names them."""

from ingot.avatars.queries import avatar_or_none
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.users.accounts.queries import find_user
from ingot.web.pages import File, Pages, Reply, Visit

pages = Pages()


@pages.get("/uploads/-/system/user/avatar/:id/:file", open=True)
def show_user_avatar(visit: Visit, db: Connection) -> Reply:
    """The picture of a user; its bytes were checked when it was stored, and nothing in it can run."""
    user = find_user(db, visit.path["id"])
    avatar = avatar_or_none(db, user.avatar_id) if user.avatar_id is not None else None
    if avatar is None or avatar.file_name != visit.path["file"]:
        raise NotFound("Avatar")
    return File(avatar.content, avatar.content_type, [(b"cache-control", b"private, max-age=300")])
