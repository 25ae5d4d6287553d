"""Response structs of webhooks, without secrets."""

from typing import Any, Literal

import msgspec

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.webhooks.policy import redacted_url, trigger_name
from ingot.webhooks.queries import has_new_deliveries
from ingot.webhooks.tables import EVENT_FLAGS, GROUP_FLAGS, DeliveryAttempt, Hook

AlertStatus = Literal["executable", "temporarily_disabled", "disabled"]
INTERNAL_ERROR = "internal error"
_AS_STORED = (
    "id",
    "name",
    "description",
    "created_at",
    "enable_ssl_verification",
    "branch_filter_strategy",
    "push_events_branch_filter",
    "custom_webhook_template",
)


class CustomHeaderView(View):
    """A custom header; its value is secret."""

    key: str


class UrlVariableView(View):
    """A URL variable; its value is secret."""

    key: str


class HookView(View):
    """A system hook."""

    id: int
    url: str
    name: str | None
    description: str | None
    created_at: Timestamp
    enable_ssl_verification: bool
    push_events: bool
    tag_push_events: bool
    issues_events: bool
    confidential_issues_events: bool
    merge_requests_events: bool
    note_events: bool
    confidential_note_events: bool
    job_events: bool
    pipeline_events: bool
    wiki_page_events: bool
    releases_events: bool
    repository_update_events: bool
    deployment_events: bool
    feature_flag_events: bool
    emoji_events: bool
    milestone_events: bool
    resource_access_token_events: bool
    resource_deploy_token_events: bool
    vulnerability_events: bool
    custom_webhook_template: str | None
    push_events_branch_filter: str | None
    branch_filter_strategy: str
    custom_headers: list[CustomHeaderView]
    url_variables: list[UrlVariableView]
    alert_status: AlertStatus
    disabled_until: Timestamp | None


class ProjectHookView(HookView):
    """A webhook of a project."""

    project_id: int | None


class GroupHookView(HookView):
    """A webhook of a group and all its projects."""

    group_id: int | None
    member_events: bool
    subgroup_events: bool
    project_events: bool


class HookEventView(View):
    """A delivery attempt of a webhook and its response."""

    id: int
    url: str
    trigger: str
    attempt: int
    request_headers: dict[str, str]
    request_data: dict[str, Any]
    response_headers: dict[str, str]
    response_body: str
    response_status: str
    execution_duration: float
    internal_error_message: str | None
    created_at: Timestamp


class HookTestView(View):
    """Confirmation that a test event has been queued."""

    message: str


class SystemHookSampleView(View):
    """Sample event of a system hook."""

    event_name: str
    name: str
    path: str
    project_id: int
    owner_name: str
    owner_email: str


def hook_view(db: Connection, hook: Hook) -> HookView:
    """Return the view of a system hook."""
    return HookView(**_fields(db, hook))


def project_hook_view(db: Connection, hook: Hook) -> ProjectHookView:
    """Return the view of a project's webhook."""
    return ProjectHookView(**_fields(db, hook), project_id=hook.project_id)


def group_hook_view(db: Connection, hook: Hook) -> GroupHookView:
    """Return the view of a group's webhook."""
    events = {name: getattr(hook, name) for name in GROUP_FLAGS}
    return GroupHookView(**_fields(db, hook), **events, group_id=hook.group_id)


def hook_event_view(attempt: DeliveryAttempt) -> HookEventView:
    """Return the view of a delivery attempt."""
    return HookEventView(
        id=attempt.id,
        url=attempt.url,
        trigger=trigger_name(attempt.trigger),
        attempt=attempt.attempt,
        request_headers=msgspec.json.decode(attempt.request_headers),
        request_data=msgspec.json.decode(attempt.payload),
        response_headers=msgspec.json.decode(attempt.response_headers),
        response_body=attempt.response_body,
        response_status=INTERNAL_ERROR if attempt.status is None else str(attempt.status),
        execution_duration=attempt.seconds,
        internal_error_message=attempt.error,
        created_at=attempt.created_at,
    )


def _fields(db: Connection, hook: Hook) -> dict[str, Any]:
    paused = hook.disabled_until is not None and hook.disabled_until > db.now
    headers = msgspec.json.decode(db.vault.unseal(hook.custom_headers)) if hook.custom_headers else []
    variables = msgspec.json.decode(db.vault.unseal(hook.url_variables)) if hook.url_variables else {}
    flags = [name for name in EVENT_FLAGS if name not in GROUP_FLAGS]
    return {
        **{name: getattr(hook, name) for name in (*_AS_STORED, *flags)},
        "url": redacted_url(hook.url, credentials=hook.credentials is not None),
        "custom_headers": [CustomHeaderView(name) for name, _ in headers],
        "url_variables": [UrlVariableView(name) for name in variables],
        "alert_status": "temporarily_disabled" if paused else "executable",
        "disabled_until": hook.disabled_until if paused else None,
    }


def is_sending(db: Connection, hook_id: int) -> bool:
    """Return whether a delivery of a webhook is queued that has not been attempted yet."""
    return has_new_deliveries(db, hook_id)
