"""The settings of the instance, and messages that every page shows."""

from typing import Any

from ingot.db.connection import Connection
from ingot.web.admin.frame import admin_page, require_admin
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.refusals import Refusal, sentences

pages = Pages()
# What the server acts on, with what it does; the rest is for the API alone.
FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    "Signing in and up": {
        "signup_enabled": ("Everybody may sign up", "switch"),
        "send_user_confirmation_email": ("New addresses are confirmed by mail", "switch"),
        "signin_enabled": ("Passwords open the pages", "switch"),
        "domain_whitelist": ("Only addresses at these domains sign up, separated by commas", "text"),
        "sign_in_text": ("Text on the page for signing in", "text"),
        "after_sign_up_text": ("Text after signing up", "text"),
        "after_sign_out_path": ("Where signing out leads", "text"),
        "session_expire_delay": ("Sessions last, in minutes", "number"),
        "require_two_factor_authentication": ("Everybody needs a second factor", "switch"),
        "two_factor_grace_period": ("and has so many hours to set it up", "number"),
        "user_oauth_applications": ("People register applications of their own", "switch"),
        "home_page_url": ("Where the first page leads those who are not signed in", "text"),
    },
    "Help": {
        "help_page_text": ("Text of the help page, in Markdown; first steps where there is none", "long"),
        "help_page_support_url": ("Where people ask for support", "text"),
        "help_page_hide_commercial_content": ("Say nothing about Ingot itself there", "switch"),
    },
    "What is new": {
        "default_project_visibility": ("Projects begin as", "choice"),
        "default_group_visibility": ("Groups begin as", "choice"),
        "default_snippet_visibility": ("Snippets begin as", "choice"),
        "default_projects_limit": ("Projects that somebody may have", "number"),
        "user_default_external": ("People begin as external", "switch"),
    },
    "Limits": {
        "enabled_git_access_protocol": ("Git is reached over", "protocol"),
        "max_attachment_size": ("Largest upload, in MB", "number"),
        "throttle_authenticated_api_enabled": ("Limit the API calls of people", "switch"),
        "throttle_authenticated_api_requests_per_period": ("So many calls", "number"),
        "throttle_authenticated_api_period_in_seconds": ("in so many seconds", "number"),
        "throttle_unauthenticated_enabled": ("Limit the calls of strangers", "switch"),
        "throttle_unauthenticated_requests_per_period": ("So many calls of a stranger", "number"),
        "throttle_unauthenticated_period_in_seconds": ("in so many seconds, of a stranger", "number"),
    },
}
_CHOICES: dict[str, tuple[tuple[str, str], ...]] = {
    "choice": tuple((level, level) for level in ("private", "internal", "public")),
    "protocol": (("", "SSH and HTTP"), ("ssh", "SSH alone"), ("http", "HTTP alone")),
}
_KINDS = {name: kind for group in FIELDS.values() for name, (_, kind) in group.items()}


@pages.get("/admin/application_settings")
def show_settings(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """What is set."""
    require_admin(visit)
    return _form(visit, _shown(visit))


@pages.put("/admin/application_settings")
def change_settings(visit: Visit) -> Reply:
    """Change them; they count at once."""
    require_admin(visit)
    typed = {name: form_part(visit.form, "settings", name) for name in _KINDS}
    sent = {name: value == "1" if _KINDS[name] == "switch" else value for name, value in typed.items()}
    try:
        visit.call("PUT", "/application/settings", sent)
    except Refusal as refusal:
        return _form(visit, sent, sentences(refusal), 422)
    return Redirect("/admin/application_settings")


@pages.get("/admin/broadcast_messages")
def show_messages(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """What is told to everybody, and a form for more."""
    require_admin(visit)
    return _messages(visit, {"message": "", "ends_at": ""})


@pages.post("/admin/broadcast_messages")
def tell(visit: Visit) -> Reply:
    """Tell everybody something."""
    require_admin(visit)
    typed = {name: form_part(visit.form, "broadcast_message", name) for name in ("message", "ends_at")}
    try:
        visit.call("POST", "/broadcast_messages", {name: value for name, value in typed.items() if value})
    except Refusal as refusal:
        return _messages(visit, typed, sentences(refusal), 422)
    return Redirect("/admin/broadcast_messages")


@pages.delete("/admin/broadcast_messages/:id")
def be_silent(visit: Visit) -> Reply:
    """Tell it no more."""
    require_admin(visit)
    visit.call("DELETE", "/broadcast_messages/:id", id=visit.path["id"])
    return Redirect("/admin/broadcast_messages")


def _shown(visit: Visit) -> dict[str, Any]:
    settings = visit.get("/application/settings")
    values = {name: getattr(settings, name) for name in _KINDS}
    return {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _form(visit: Visit, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200) -> Page:
    groups = {title: [(name, *field) for name, field in fields.items()] for title, fields in FIELDS.items()}
    context = {"groups": groups, "typed": typed, "choices": _CHOICES, "errors": errors or []}
    return admin_page(visit, "settings", "settings", context, status)


def _messages(visit: Visit, typed: dict[str, str], errors: list[str] | None = None, status: int = 200) -> Page:
    found = visit.get("/broadcast_messages", {"per_page": 100}).items
    context = {"messages": found, "typed": typed, "errors": errors or []}
    return admin_page(visit, "messages", "messages", context, status)
