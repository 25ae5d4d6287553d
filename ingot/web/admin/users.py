"""Administration pages of users."""

from typing import Any

from ingot.accounts.users import api as users_api
from ingot.accounts.users.views import AdminUserView
from ingot.core.errors import NotFound
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import (
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
    text_field,
)

pages = PageRoutes()
_TEXT_FIELDS = ("name", "username", "email", "password", "projects_limit", "bio", "organization", "location", "note")
_FLAG_FIELDS = ("admin", "external", "can_create_group")
_FILTERS = {
    "active": "Active",
    "blocked_pending_approval": "Pending approval",
    "blocked": "Blocked",
    "admins": "Administrators",
    "external": "External",
}
_ACTIONS = {
    "block": users_api.block_user,
    "unblock": users_api.unblock_user,
    "unlock": users_api.unlock_user,
    "approve": users_api.approve_user,
    "activate": users_api.activate_user,
    "deactivate": users_api.deactivate_user,
    "ban": users_api.ban_user,
    "unban": users_api.unban_user,
}


@pages.get("/admin/users")
def list_users(visit: Visit) -> PageResponse:
    """List users, filtered by search term or state."""
    require_admin(visit)
    params: dict[str, Any] = {"page": visit.request.query.get("page", "1"), "order_by": "id", "sort": "desc"}
    search, selected = text_field(visit.request.query, "search"), text_field(visit.request.query, "filter")
    if search:
        params["search"] = search
    if selected in _FILTERS:
        params[selected] = "true"
    context = {
        "users": visit.ask(users_api.list_users, params),
        "search": search,
        "filters": _FILTERS,
        "selected": selected,
    }
    return render_admin_page(visit, "users", "users", context)


@pages.get("/admin/users/new")
def show_new_user(visit: Visit) -> PageResponse:
    """Show the form for a new user."""
    typed = dict.fromkeys(_TEXT_FIELDS, "") | dict.fromkeys(_FLAG_FIELDS, False) | {"can_create_group": True}
    return _user_form(visit, None, typed)


@pages.post("/admin/users", notice="User created.")
def create_user(visit: Visit) -> PageResponse:
    """Create a user; without a password, email a link to set one."""
    require_admin(visit)
    typed = _form_values(visit)
    params = {name: value for name, value in typed.items() if value != ""}
    if not typed["password"]:
        params["reset_password"] = True
    try:
        created = visit.ask(users_api.create_user, params)
    except REQUEST_ERRORS as error:
        return _user_form(visit, None, typed, error_messages(error), 422)
    return LocalRedirect(f"/admin/users/{created.id}")


@pages.get("/admin/users/:id")
def show_user(visit: Visit) -> PageResponse:
    """Show a user with the form to edit them."""
    require_admin(visit)
    user = _find_user(visit)
    typed = {name: getattr(user, name, "") or "" for name in _TEXT_FIELDS} | {"password": ""}
    names = {"admin": "is_admin", "external": "external", "can_create_group": "can_create_group"}
    return _user_form(visit, user, typed | {flag: bool(getattr(user, name)) for flag, name in names.items()})


@pages.put("/admin/users/:id", notice="User saved.")
def update_user(visit: Visit) -> PageResponse:
    """Update a user; an empty password leaves the password unchanged."""
    require_admin(visit)
    user = _find_user(visit)
    typed = _form_values(visit)
    params = {name: value for name, value in typed.items() if name == "note" or value != ""}
    try:
        visit.ask(users_api.modify_user, params, id=user.id)
    except REQUEST_ERRORS as error:
        return _user_form(visit, user, typed, error_messages(error), 422)
    return LocalRedirect(f"/admin/users/{user.id}")


@pages.post("/admin/users/:id/:act", notice="State of the user changed.")
def change_user_state(visit: Visit) -> PageResponse:
    """Approve, block, unblock, unlock, activate, deactivate, ban or unban a user."""
    require_admin(visit)
    action = visit.request.path["act"]
    if action in _ACTIONS:
        try:
            visit.ask(_ACTIONS[action], id=visit.request.path["id"])
        except REQUEST_ERRORS as error:
            return _error_page(visit, error)
    return LocalRedirect(f"/admin/users/{visit.request.path['id']}")


@pages.post("/admin/users/:id/reject", notice="User rejected.")
def reject_user(visit: Visit) -> PageResponse:
    """Reject a user who waits for approval."""
    require_admin(visit)
    try:
        visit.ask(users_api.reject_user, id=visit.request.path["id"])
    except REQUEST_ERRORS as error:
        return _error_page(visit, error)
    return LocalRedirect("/admin/users?filter=blocked_pending_approval")


@pages.delete("/admin/users/:id", notice="User deleted.")
def delete_user(visit: Visit) -> PageResponse:
    """Delete a user; their contributions are kept unless ``hard_delete`` is set."""
    require_admin(visit)
    try:
        visit.ask(
            users_api.delete_user,
            {"hard_delete": visit.request.form.get("hard_delete", "0")},
            id=visit.request.path["id"],
        )
    except REQUEST_ERRORS as error:
        return _error_page(visit, error)
    return LocalRedirect("/admin/users")


def _find_user(visit: Visit) -> AdminUserView:
    user = visit.ask(users_api.get_user, id=visit.request.path["id"])
    if not isinstance(user, AdminUserView):
        raise NotFound("User")
    return user


def _form_values(visit: Visit) -> dict[str, Any]:
    typed: dict[str, Any] = {name: form_field(visit.request.form, "user", name) for name in _TEXT_FIELDS}
    return typed | {name: form_field(visit.request.form, "user", name) == "1" for name in _FLAG_FIELDS}


def _error_page(visit: Visit, error: Exception) -> PageResponse:
    user = _find_user(visit)
    typed = {name: getattr(user, name, "") or "" for name in _TEXT_FIELDS} | {"password": ""}
    typed |= {"admin": user.is_admin, "external": user.external, "can_create_group": user.can_create_group}
    return _user_form(visit, user, typed, error_messages(error), 422)


def _user_form(
    visit: Visit, user: Any, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    return render_admin_page(
        visit, "user", "users", {"shown_user": user, "typed": typed, "errors": errors or []}, status
    )
