"""Administration pages of the instance settings and broadcast messages."""

from typing import Any

from ingot.accounts.instance import api as instance_api
from ingot.accounts.instance.all_settings import AllSettings
from ingot.core.errors import NotFound
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.admin.limit_fields import LIMIT_FIELDS
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.languages import LANGUAGES
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.projects.option_fields import DeclaredEffect, declared_effects

pages = PageRoutes()
FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    "Sign-in and sign-up": {
        "signup_enabled": ("Sign-up enabled", "switch"),
        "require_admin_approval_after_user_signup": ("Administrators approve new users", "switch"),
        "email_confirmation_setting": ("Email confirmation", "confirmation"),
        "signin_enabled": ("Password sign-in enabled for the web interface", "switch"),
        "password_authentication_enabled_for_git": ("Passwords are accepted for git over HTTP", "switch"),
        "domain_whitelist": ("Allowed email domains for sign-up, separated by commas", "text"),
        "domain_blacklist_enabled": ("Block email domains for sign-up", "switch"),
        "domain_blacklist": ("Blocked email domains for sign-up, separated by commas", "text"),
        "email_restrictions_enabled": ("Restrict email addresses for sign-up", "switch"),
        "email_restrictions": ("Regular expression of addresses that may not sign up", "text"),
        "sign_in_text": ("Text on the sign-in page", "long"),
        "after_sign_up_text": ("Text after sign-up", "long"),
        "after_sign_out_path": ("Page after sign-out", "text"),
        "remember_me_enabled": ("Users can stay signed in", "switch"),
        "session_expire_delay": ("Session duration in minutes", "number"),
        "session_expire_from_init": ("Sessions also expire while they are used", "switch"),
        "admin_mode": ("Administrators sign in again for admin mode", "switch"),
        "unique_ips_limit_enabled": ("Limit the addresses of each user", "switch"),
        "unique_ips_limit_per_user": ("Addresses per user", "number"),
        "unique_ips_limit_time_window": ("Seconds for which an address counts", "number"),
        "enforce_terms": ("Users must accept the terms of service", "switch"),
        "terms": ("Terms of service in Markdown", "long"),
        "require_two_factor_authentication": ("Require two-factor authentication for all users", "switch"),
        "require_admin_two_factor_authentication": ("Require two-factor authentication for administrators", "switch"),
        "two_factor_grace_period": ("Two-factor grace period in hours", "number"),
        "disabled_oauth_sign_in_sources": ("External sign-in", "sources"),
        "home_page_url": ("Home page URL for signed-out users", "text"),
    },
    "Passwords": {
        "minimum_password_length": ("Minimum length of new passwords", "number"),
        "password_number_required": ("New passwords need a number", "switch"),
        "password_lowercase_required": ("New passwords need a lowercase letter", "switch"),
        "password_uppercase_required": ("New passwords need an uppercase letter", "switch"),
        "password_symbol_required": ("New passwords need a symbol", "switch"),
        "max_login_attempts": ("Failed sign-ins before an account is locked (empty for no limit)", "number"),
        "failed_login_attempts_unlock_period_in_minutes": ("Minutes until it is unlocked (empty for 10)", "number"),
    },
    "Tokens and keys": {
        "require_personal_access_token_expiry": ("New access tokens need an expiry date", "switch"),
        "max_personal_access_token_lifetime": ("Longest lifetime of access tokens in days (empty for none)", "number"),
        "personal_access_token_prefix": ("Prefix of new access tokens", "text"),
        "rsa_key_restriction": ("RSA SSH keys", "rsa"),
        "ecdsa_key_restriction": ("ECDSA SSH keys", "ecdsa"),
        "ed25519_key_restriction": ("ED25519 SSH keys", "allowed"),
        "ecdsa_sk_key_restriction": ("ECDSA_SK SSH keys", "allowed"),
        "ed25519_sk_key_restriction": ("ED25519_SK SSH keys", "allowed"),
        "disable_feed_token": ("Disable feed tokens", "switch"),
        "user_oauth_applications": ("Users can register OAuth applications", "switch"),
        "ropc_without_client_credentials": ("OAuth password grant without an application", "switch"),
        "dynamic_client_registration_enabled": ("OAuth clients can register themselves", "switch"),
        "disable_admin_oauth_scopes": ("Administrators cannot grant applications access to the API", "switch"),
    },
    "Accounts": {
        "updating_name_disabled_for_users": ("Only administrators can change names of users", "switch"),
        "allow_account_deletion": ("Users can delete their accounts", "switch"),
        "deactivate_dormant_users": ("Deactivate users without activity", "switch"),
        "deactivate_dormant_users_period": ("Days without activity before a user is deactivated", "number"),
        "user_deactivation_emails_enabled": ("Send a mail to users who are deactivated", "switch"),
        "delete_unconfirmed_users": ("Delete users who have not confirmed their address", "switch"),
        "unconfirmed_users_delete_after_days": ("Days until they are deleted", "number"),
        "notify_on_unknown_sign_in": ("Send a mail about sign-ins from unknown networks", "switch"),
        "globally_allowed_ips": ("Networks that may always use restricted groups, separated by commas", "text"),
    },
    "Runners": {
        "valid_runner_registrars": ("Owners of runners besides the instance, separated by commas", "text"),
        "allow_runner_registration_token": ("Runners can register with registration tokens", "switch"),
        "runner_token_expiration_interval": (
            "Lifetime of instance runner tokens in seconds (empty for no end)",
            "number",
        ),
        "group_runner_token_expiration_interval": ("Lifetime of group runner tokens in seconds", "number"),
        "project_runner_token_expiration_interval": ("Lifetime of project runner tokens in seconds", "number"),
    },
    "Help": {
        "help_page_text": ("Help page text in Markdown (default: first steps)", "long"),
        "help_page_support_url": ("Support page URL", "text"),
        "help_page_hide_commercial_content": ("Hide information about Ingot on the help page", "switch"),
        "security_txt_content": ("Text of /.well-known/security.txt", "long"),
    },
    "Defaults": {
        "default_project_visibility": ("Default project visibility", "choice"),
        "default_group_visibility": ("Default group visibility", "choice"),
        "default_snippet_visibility": ("Default snippet visibility", "choice"),
        "default_projects_limit": ("Default projects limit per user", "number"),
        "user_default_external": ("New users are external by default", "switch"),
        "default_preferred_language": ("Language of users who have chosen none", "language"),
        "first_day_of_week": ("First day of the week", "weekday"),
        "can_create_group": ("New users can create groups", "switch"),
        "user_defaults_to_private_profile": ("Profiles of new users are private", "switch"),
        "restricted_visibility_levels": ("Restricted visibility levels, separated by commas", "text"),
        "default_branch_name": ("Default branch of new projects", "text"),
        "default_branch_protection": ("Protection of the default branch", "protection"),
        "group_owners_can_manage_default_branch_protection": ("Owners of groups can change that", "switch"),
        "default_project_creation": ("Role that can create projects in new groups", "creation"),
        "html_emails_enabled": ("Emails with an HTML part", "switch"),
        "import_sources": ("Import sources, separated by commas", "text"),
        "bulk_import_enabled": ("Groups and projects can be imported from GitLab", "switch"),
        "user_default_internal_regex": ("Regular expression of addresses of users who are internal", "text"),
    },
    "Git access": {
        "enabled_git_access_protocol": ("Enabled Git access protocols", "protocol"),
        "custom_http_clone_url_root": ("Root of clone addresses over HTTP", "text"),
        "commit_email_hostname": ("Host of private addresses for commits", "text"),
    },
    "Approvals": {
        "prevent_merge_requests_author_approval": ("Authors cannot approve their merge requests", "switch"),
        "prevent_merge_requests_committers_approval": ("Users who add commits may not approve", "switch"),
        "disable_overriding_approvers_per_merge_request": ("Merge requests cannot have rules of their own", "switch"),
    },
    "Projects and searches": {
        "allow_project_creation_for_guest_and_below": ("Guests can create projects of their own", "switch"),
        "default_project_deletion_protection": ("Only administrators can delete projects and groups", "switch"),
        "deletion_adjourned_period": ("Days until deleted projects and groups are removed (0 for at once)", "number"),
        "delete_inactive_projects": ("Delete projects without activity", "switch"),
        "inactive_projects_send_warning_email_after_months": ("Months until maintainers get a mail", "number"),
        "inactive_projects_delete_after_months": ("Months until a project without activity is deleted", "number"),
        "inactive_projects_min_size_mb": ("Only repositories from this size in MB", "number"),
        "project_export_enabled": ("Projects can be exported", "switch"),
        "mirror_available": ("Maintainers can set up mirrors", "switch"),
        "anonymous_searches_allowed": ("Signed-out visitors can search for projects", "switch"),
        "global_search_issues_enabled": ("Search all issues", "switch"),
        "global_search_merge_requests_enabled": ("Search all merge requests", "switch"),
        "global_search_snippet_titles_enabled": ("Search all titles of snippets", "switch"),
        "global_search_users_enabled": ("Search all users", "switch"),
        "global_search_block_anonymous_searches_enabled": ("Signed-out users cannot search", "switch"),
    },
    "Repository storage": {
        "repository_storages_weighted": ("Weights, one storage per line", "weights"),
        "repository_storages": ("Storages of new repositories, separated by commas", "text"),
        "repository_storage": ("First storage", "storage"),
    },
    "CI and packages": {
        "default_ci_config_path": ("Configuration file of new projects", "text"),
        "keep_latest_artifact": ("Keep the artifacts of the latest pipeline of each branch and tag", "switch"),
        "protected_ci_variables": ("New variables are protected by default", "switch"),
        "pipeline_limit_per_project_user_sha": ("Pipelines per minute, user and commit", "number"),
        "downstream_pipeline_trigger_limit_per_project_user_sha": (
            "Downstream pipelines per minute, user and commit",
            "number",
        ),
        "archive_builds_in_human_readable": ("Age from which jobs are archived", "text"),
        "shared_runners_enabled": ("New projects use the runners of the instance", "switch"),
        "shared_runners_text": ("Text about the runners of the instance", "long"),
        "default_artifacts_expire_in": ("Default expiry of artifacts", "text"),
        "max_artifacts_size": ("Maximum size of artifacts in MB", "number"),
        "ci_needs_size_limit": ("Maximum number of needs of a job", "number"),
        "ci_pipeline_schedules": ("Maximum number of pipeline schedules of a project", "number"),
        "ci_instance_level_variables": ("Maximum number of CI variables of the instance", "number"),
        "dotenv_size": ("Maximum size of a dotenv report in bytes", "number"),
        "dotenv_variables": ("Maximum number of variables in a dotenv report", "number"),
        "generic_packages_max_file_size": ("Maximum size of a generic package file in bytes", "number"),
        "maven_max_file_size": ("Maximum size of a Maven package file in bytes", "number"),
        "npm_max_file_size": ("Maximum size of an npm package in bytes", "number"),
        "pypi_max_file_size": ("Maximum size of a Python package file in bytes", "number"),
        "container_registry_token_expire_delay": ("Lifetime of registry tokens in minutes", "number"),
    },
    **LIMIT_FIELDS,
}
"""Settings by topic, each with its label and kind of input; a test checks that every effective one is here."""
_LABELS = {name: label for fields in FIELDS.values() for name, (label, _) in fields.items()}
_ANY_KEY = (("0", "Allowed"), ("-1", "Forbidden"))
_CHOICES: dict[str, tuple[tuple[str, str], ...]] = {
    "choice": tuple((level, level.capitalize()) for level in ("private", "internal", "public")),
    "protection": (
        ("0", "Not protected"),
        ("1", "Developers push, nobody forces"),
        ("2", "Maintainers push and merge"),
        ("3", "Developers merge, maintainers push"),
        ("4", "Developers push the first commit"),
    ),
    "creation": (
        ("0", "No one"),
        ("1", "Maintainers"),
        ("2", "Developers"),
        ("3", "Administrators"),
        ("4", "Owners"),
    ),
    "rsa": (*_ANY_KEY, ("2048", "At least 2048 bits"), ("3072", "At least 3072 bits"), ("4096", "At least 4096 bits")),
    "ecdsa": (*_ANY_KEY, ("256", "At least 256 bits"), ("384", "At least 384 bits"), ("521", "At least 521 bits")),
    "allowed": _ANY_KEY,
    "confirmation": (("off", "Off"), ("soft", "Within three days"), ("hard", "Before the first sign-in")),
    "language": tuple(LANGUAGES.items()),
    "weekday": (("0", "Sunday"), ("1", "Monday"), ("6", "Saturday")),
    "sources": (("", "Available if it is configured"), ("openid_connect", "OpenID Connect is off")),
    "protocol": (("", "SSH and HTTP"), ("ssh", "Only SSH"), ("http", "Only HTTP")),
}
_LONG_TEXTS = {"long", "weights"}
TOPICS = {title.lower().replace(" ", "_").replace("-", "_"): title for title in FIELDS}
"""Titles of the pages by the last part of their addresses."""


@pages.get("/admin/application_settings")
def show_first_settings(visit: Visit) -> PageResponse:
    """Redirect to the first page of instance settings."""
    require_admin(visit)
    return LocalRedirect(_address(next(iter(TOPICS))))


@pages.get("/admin/application_settings/:topic")
def show_settings(visit: Visit) -> PageResponse:
    """Show the instance settings of a topic."""
    fields = _fields(visit)
    settings = visit.ask(instance_api.get_settings)
    return _settings_form(visit, {name: _shown(getattr(settings, name), kind) for name, (_, kind) in fields.items()})


@pages.put("/admin/application_settings/:topic", notice="Settings saved.")
def update_settings(visit: Visit) -> PageResponse:
    """Change the instance settings of a topic; they take effect immediately."""
    fields = _fields(visit)
    typed = {name: form_field(visit.request.form, "settings", name) for name in fields}
    settings = visit.ask(instance_api.get_settings)
    params = {
        name: _typed(typed[name], kind)
        for name, (_, kind) in fields.items()
        if typed[name].replace("\r\n", "\n") != _field_text(_shown(getattr(settings, name), kind))
    }
    try:
        if params:  # An empty field that was null must not become an empty text.
            visit.ask(instance_api.modify_settings, params)
    except REQUEST_ERRORS as error:
        return _settings_form(visit, typed, error_messages(error), 422)
    return LocalRedirect(_address(visit.request.path["topic"]))


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


def _address(topic: str) -> str:
    return f"/admin/application_settings/{topic}"


def _fields(visit: Visit) -> dict[str, tuple[str, str]]:
    """Return the label and the kind of input of the topic's settings."""
    require_admin(visit)
    title = TOPICS.get(visit.request.path["topic"])
    if title is None:
        raise NotFound("Page")
    return FIELDS[title]


def _shown(value: Any, kind: str) -> Any:
    if kind == "weights":
        return "\n".join(f"{name} {weight}" for name, weight in value.items())
    return ", ".join(value) if isinstance(value, tuple) else value


def _field_text(shown: Any) -> str:
    """Return what a form contains that was not changed."""
    if isinstance(shown, bool):
        return "1" if shown else ""
    return "" if shown is None else str(shown)


def _storages(visit: Visit) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in ("default", *visit.settings.storage_directories))


def _typed(value: str, kind: str) -> Any:
    if kind == "switch":
        return value == "1"
    if kind == "weights":
        return dict(_weight(line) for line in value.split("\n") if line.strip())
    return value


def _weight(line: str) -> tuple[str, str]:
    """Return the name and weight of a storage; the endpoint refuses a weight that is not a number."""
    name, _, weight = line.strip().rpartition(" ")
    return name.strip(), weight


def setting_effects() -> dict[str, DeclaredEffect]:
    """Return the explanation of each setting, from its declaration."""
    return declared_effects(AllSettings)


def _settings_form(
    visit: Visit, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    topic = visit.request.path["topic"]
    context = {
        "topics": TOPICS,
        "topic": topic,
        "fields": FIELDS[TOPICS[topic]],
        "effects": setting_effects(),
        "labels": _LABELS,
        "typed": typed,
        "choices": {**_CHOICES, "storage": _storages(visit)},
        "long": _LONG_TEXTS,
        "errors": errors or [],
    }
    return render_admin_page(visit, "settings", "settings", context, status)


def _messages_page(
    visit: Visit, typed: dict[str, str], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    messages = visit.ask(instance_api.list_broadcast_messages, {"per_page": 100}).items
    context = {"messages": messages, "typed": typed, "errors": errors or []}
    return render_admin_page(visit, "messages", "messages", context, status)
