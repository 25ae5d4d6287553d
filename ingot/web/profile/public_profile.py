"""Public profile of the current user: name, avatar, bio and status."""

from typing import Any

from ingot.accounts.appearance.records import current_appearance
from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.users.details import user_details
from ingot.accounts.users.params import ModifyUser, SetStatus
from ingot.accounts.users.service import modify_user
from ingot.accounts.users.statuses import set_status
from ingot.accounts.users.views import current_user, own_user_view, status_or_none
from ingot.core.api.params import Upload
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.texts import render_markdown

pages = PageRoutes()
_FIELDS = ("name", "bio", "location", "organization", "website_url", "public_email")
_DETAILS = ("job_title", "pronouns", "discord", "bluesky", "mastodon")
_STATUS = ("emoji", "message")


@pages.get("/profile")
def show_profile(visit: Visit, db: Connection) -> PageResponse:
    """Show the profile form."""
    user, status = visit.viewer.signed_in, status_or_none(db, visit.viewer.signed_in)
    details = user_details(user.details_document)
    typed = {name: getattr(user, name) for name in _FIELDS} | {name: getattr(details, name) or "" for name in _DETAILS}
    typed["private_profile"] = details.private_profile
    typed |= {"emoji": status.emoji if status else "", "message": status.message if status else ""}
    typed |= {"availability": status.availability if status else "not_set"}
    return _profile_page(visit, db, typed)


@pages.put("/profile", notice="Profile saved.")
def update_profile(visit: Visit) -> PageResponse:
    """Update the profile and status; without a file the avatar is unchanged."""
    typed: dict[str, Any] = {
        name: form_field(visit.request.form, "user", name).strip() for name in (*_FIELDS, *_DETAILS)
    }
    typed["private_profile"] = form_field(visit.request.form, "user", "private_profile") == "1"
    status = {name: form_field(visit.request.form, "status", name).strip() for name in _STATUS}
    busy = form_field(visit.request.form, "status", "availability") == "busy"
    picture = _picture(visit)

    def work(db: Connection) -> None:
        db.lock(NAMESPACES)
        user = current_user(db, visit.viewer.actor)
        changes = ModifyUser(**typed)
        if picture is not None:
            changes.avatar = picture
        elif form_field(visit.request.form, "user", "remove_avatar") == "1":
            changes.avatar = None
        modify_user(db, visit.viewer.actor, user, changes, None)
        emoji = status["emoji"].strip(":") or "speech_balloon"
        set_status(db, user, SetStatus(emoji, status["message"], "busy" if busy else "not_set"))

    try:
        visit.database.write(work)
    except REQUEST_ERRORS as error:
        typed |= {**status, "availability": "busy" if busy else "not_set"}
        errors = error_messages(error)
        return visit.database.read(lambda db: _profile_page(visit, db, typed, errors))
    finally:
        if picture is not None:
            picture.file.close()
    return LocalRedirect("/profile")


@pages.post("/profile", notice="Profile saved.")
def update_profile_by_post(visit: Visit) -> PageResponse:
    """Update the profile, for forms without ``_method``."""
    return update_profile(visit)


def _picture(visit: Visit) -> Upload | None:
    fields = visit.request.form.get("user")
    upload = fields.get("avatar") if isinstance(fields, dict) else None
    if not isinstance(upload, Upload):
        return None
    if upload.filename:
        return upload
    upload.file.close()
    return None


def _profile_page(
    visit: Visit, db: Connection, typed: dict[str, Any], errors: list[str] | None = None
) -> TemplateResponse:
    profile = own_user_view(db, visit.viewer.signed_in, visit.request.origin.base)
    may_rename = visit.viewer.signed_in.admin or not cached_all_settings(db).updating_name_disabled_for_users
    context = {
        "tab": "profile",
        "typed": typed,
        "errors": errors or [],
        "profile": profile,
        "may_rename": may_rename,
        "guidelines": render_markdown(visit, current_appearance(db).profile_image_guidelines),
    }
    return TemplateResponse("profile/profile.html", context, 422 if errors else 200)
