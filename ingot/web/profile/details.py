"""What others see of a user: name, picture, a few words, and what they are doing."""

from typing import Any

from ingot.api.params import Upload
from ingot.db.connection import Connection
from ingot.names import NAMESPACES
from ingot.users.accounts.params import ModifyUser, SetStatus
from ingot.users.accounts.queries import find_user, status_of
from ingot.users.accounts.service import modify_user, set_status
from ingot.users.accounts.views import own_user_view
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_FIELDS = ("name", "bio", "location", "organization", "website_url", "public_email")
_STATUS = ("emoji", "message")


@pages.get("/profile")
def show_profile(visit: Visit, db: Connection) -> Reply:
    """Show what can be changed."""
    user, status = visit.signed_in, status_of(db, visit.signed_in)
    typed = {name: getattr(user, name) for name in _FIELDS}
    typed |= {"emoji": status.emoji if status else "", "message": status.message if status else ""}
    typed |= {"availability": status.availability if status else "not_set"}
    return _page(visit, db, typed)


@pages.put("/profile")
def change_profile(visit: Visit) -> Reply:
    """Change what was sent; an empty picture leaves the one that is there."""
    typed: dict[str, Any] = {name: form_part(visit.form, "user", name).strip() for name in _FIELDS}
    status = {name: form_part(visit.form, "status", name).strip() for name in _STATUS}
    busy = form_part(visit.form, "status", "availability") == "busy"
    picture = _picture(visit)

    def work(db: Connection) -> None:
        db.lock(NAMESPACES)
        user = find_user(db, visit.signed_in.id)
        changes = ModifyUser(**typed)
        if picture is not None:
            changes.avatar = picture
        elif form_part(visit.form, "user", "remove_avatar") == "1":
            changes.avatar = None
        modify_user(db, visit.actor, user, changes, None)
        emoji = status["emoji"].strip(":") or "speech_balloon"
        set_status(db, user, SetStatus(emoji, status["message"], "busy" if busy else "not_set"))

    try:
        visit.database.write(work)
    except Refusal as refusal:
        typed |= {**status, "availability": "busy" if busy else "not_set"}
        errors = sentences(refusal)
        return visit.database.read(lambda db: _page(visit, db, typed, errors))
    finally:
        if picture is not None:
            picture.file.close()
    return Redirect("/profile")


@pages.post("/profile")
def change_profile_by_post(visit: Visit) -> Reply:
    """The same for forms that say no other method."""
    return change_profile(visit)


def _picture(visit: Visit) -> Upload | None:
    fields = visit.form.get("user")
    sent = fields.get("avatar") if isinstance(fields, dict) else None
    if not isinstance(sent, Upload):
        return None
    if sent.filename:
        return sent
    sent.file.close()
    return None


def _page(visit: Visit, db: Connection, typed: dict[str, Any], errors: list[str] | None = None) -> Page:
    shown = own_user_view(db, visit.signed_in, visit.origin.base)
    context = {"tab": "profile", "typed": typed, "errors": errors or [], "shown": shown}
    return Page("profile/details.html", context, 422 if errors else 200)
