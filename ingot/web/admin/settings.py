"""The settings of the instance, and messages that every page shows."""

from typing import Any

from ingot.accounts.instance import api as instance_api
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()
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
def show_settings(visit: Visit) -> PageResponse:
    """What is set."""
    require_admin(visit)
    return _settings_form(visit, _settings_values(visit))


@pages.put("/admin/application_settings")
def update_settings(visit: Visit) -> PageResponse:
    """Change them; they count at once."""
    require_admin(visit)
    typed = {name: form_field(visit.request.form, "settings", name) for name in _KINDS}
    sent = {name: value == "1" if _KINDS[name] == "switch" else value for name, value in typed.items()}
    try:
        visit.ask(instance_api.modify_settings, sent)
    except RequestRefusal as refusal:
        return _settings_form(visit, sent, error_messages(refusal), 422)
    return LocalRedirect("/admin/application_settings")


@pages.get("/admin/broadcast_messages")
def show_messages(visit: Visit) -> PageResponse:
    """What is told to everybody, and a form for more."""
    require_admin(visit)
    return _messages_page(visit, {"message": "", "ends_at": ""})


@pages.post("/admin/broadcast_messages")
def create_broadcast_message(visit: Visit) -> PageResponse:
    """Tell everybody something."""
    require_admin(visit)
    typed = {name: form_field(visit.request.form, "broadcast_message", name) for name in ("message", "ends_at")}
    try:
        visit.ask(instance_api.create_broadcast_message, {name: value for name, value in typed.items() if value})
    except RequestRefusal as refusal:
        return _messages_page(visit, typed, error_messages(refusal), 422)
    return LocalRedirect("/admin/broadcast_messages")


@pages.delete("/admin/broadcast_messages/:id")
def delete_broadcast_message(visit: Visit) -> PageResponse:
    """Tell it no more."""
    require_admin(visit)
    visit.ask(instance_api.delete_broadcast_message, id=visit.request.path["id"])
    return LocalRedirect("/admin/broadcast_messages")


def _settings_values(visit: Visit) -> dict[str, Any]:
    settings = visit.ask(instance_api.get_settings)
    values = {name: getattr(settings, name) for name in _KINDS}
    return {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _settings_form(
    visit: Visit, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    groups = {title: [(name, *field) for name, field in fields.items()] for title, fields in FIELDS.items()}
    context = {"groups": groups, "typed": typed, "choices": _CHOICES, "errors": errors or []}
    return render_admin_page(visit, "settings", "settings", context, status)


def _messages_page(
    visit: Visit, typed: dict[str, str], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    found = visit.ask(instance_api.list_broadcast_messages, {"per_page": 100}).items
    context = {"messages": found, "typed": typed, "errors": errors or []}
    return render_admin_page(visit, "messages", "messages", context, status)
