"""Administration pages of the instance settings and broadcast messages."""

from typing import Any

from ingot.accounts.instance import api as instance_api
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()
# Settings that have an effect, with label and kind of input; all others can be changed only through the API.
FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    "Sign-in and sign-up": {
        "signup_enabled": ("Sign-up enabled", "switch"),
        "send_user_confirmation_email": ("Require email confirmation", "switch"),
        "signin_enabled": ("Password sign-in enabled for the web interface", "switch"),
        "domain_whitelist": ("Allowed email domains for sign-up, separated by commas", "text"),
        "sign_in_text": ("Text on the sign-in page", "text"),
        "after_sign_up_text": ("Text after sign-up", "text"),
        "after_sign_out_path": ("Page after sign-out", "text"),
        "session_expire_delay": ("Session duration in minutes", "number"),
        "require_two_factor_authentication": ("Require two-factor authentication for all users", "switch"),
        "two_factor_grace_period": ("Two-factor grace period in hours", "number"),
        "user_oauth_applications": ("Users can register OAuth applications", "switch"),
        "home_page_url": ("Home page URL for signed-out users", "text"),
    },
    "Help": {
        "help_page_text": ("Help page text in Markdown (default: first steps)", "long"),
        "help_page_support_url": ("Support page URL", "text"),
        "help_page_hide_commercial_content": ("Hide information about Ingot on the help page", "switch"),
    },
    "Defaults": {
        "default_project_visibility": ("Default project visibility", "choice"),
        "default_group_visibility": ("Default group visibility", "choice"),
        "default_snippet_visibility": ("Default snippet visibility", "choice"),
        "default_projects_limit": ("Default projects limit per user", "number"),
        "user_default_external": ("New users are external by default", "switch"),
    },
    "Limits": {
        "enabled_git_access_protocol": ("Enabled Git access protocols", "protocol"),
        "max_attachment_size": ("Maximum attachment size in MB", "number"),
        "throttle_authenticated_api_enabled": ("Enable the rate limit for authenticated API requests", "switch"),
        "throttle_authenticated_api_requests_per_period": ("Authenticated API requests per period", "number"),
        "throttle_authenticated_api_period_in_seconds": ("Authenticated API period in seconds", "number"),
        "throttle_unauthenticated_enabled": ("Enable the rate limit for unauthenticated requests", "switch"),
        "throttle_unauthenticated_requests_per_period": ("Unauthenticated requests per period", "number"),
        "throttle_unauthenticated_period_in_seconds": ("Unauthenticated period in seconds", "number"),
    },
}
_CHOICES: dict[str, tuple[tuple[str, str], ...]] = {
    "choice": tuple((level, level.capitalize()) for level in ("private", "internal", "public")),
    "protocol": (("", "SSH and HTTP"), ("ssh", "Only SSH"), ("http", "Only HTTP")),
}
_KINDS = {name: kind for group in FIELDS.values() for name, (_, kind) in group.items()}


@pages.get("/admin/application_settings")
def show_settings(visit: Visit) -> PageResponse:
    """Show the instance settings."""
    require_admin(visit)
    return _settings_form(visit, _settings_values(visit))


@pages.put("/admin/application_settings", notice="Settings saved.")
def update_settings(visit: Visit) -> PageResponse:
    """Change the instance settings; they take effect immediately."""
    require_admin(visit)
    typed = {name: form_field(visit.request.form, "settings", name) for name in _KINDS}
    params = {name: value == "1" if _KINDS[name] == "switch" else value for name, value in typed.items()}
    try:
        visit.ask(instance_api.modify_settings, params)
    except REQUEST_ERRORS as error:
        return _settings_form(visit, params, error_messages(error), 422)
    return LocalRedirect("/admin/application_settings")


@pages.get("/admin/broadcast_messages")
def show_messages(visit: Visit) -> PageResponse:
    """List the broadcast messages and show the form for a new one."""
    require_admin(visit)
    return _messages_page(visit, {"message": "", "ends_at": ""})


@pages.post("/admin/broadcast_messages", notice="Message published.")
def create_broadcast_message(visit: Visit) -> PageResponse:
    """Create a broadcast message."""
    require_admin(visit)
    typed = {name: form_field(visit.request.form, "broadcast_message", name) for name in ("message", "ends_at")}
    try:
        visit.ask(instance_api.create_broadcast_message, {name: value for name, value in typed.items() if value})
    except REQUEST_ERRORS as error:
        return _messages_page(visit, typed, error_messages(error), 422)
    return LocalRedirect("/admin/broadcast_messages")


@pages.delete("/admin/broadcast_messages/:id", notice="Message deleted.")
def delete_broadcast_message(visit: Visit) -> PageResponse:
    """Delete a broadcast message."""
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
    messages = visit.ask(instance_api.list_broadcast_messages, {"per_page": 100}).items
    context = {"messages": messages, "typed": typed, "errors": errors or []}
    return render_admin_page(visit, "messages", "messages", context, status)
