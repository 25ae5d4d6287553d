"""Tables of webhooks, their events and delivery attempts; ``delivery/tables.py`` has that of deliveries."""

from typing import Literal

from sqlalchemy import Index, Table, false

from ingot.core.db.schema import Record, binary, decimal, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

HookKind = Literal["project", "group", "system", "service"]

# Events that a webhook can subscribe to, under the API's names.
EVENT_FLAGS = (
    "push_events",
    "tag_push_events",
    "issues_events",
    "confidential_issues_events",
    "merge_requests_events",
    "note_events",
    "confidential_note_events",
    "job_events",
    "pipeline_events",
    "wiki_page_events",
    "releases_events",
    "repository_update_events",
    "deployment_events",
    "feature_flag_events",
    "emoji_events",
    "milestone_events",
    "resource_access_token_events",
    "resource_deploy_token_events",
    "vulnerability_events",
    "member_events",
    "subgroup_events",
    "project_events",
)
GROUP_FLAGS = ("member_events", "subgroup_events", "project_events")
"""Events that only webhooks of groups have."""
LATER_FLAGS = (
    "deployment_events",
    "feature_flag_events",
    "emoji_events",
    "milestone_events",
    "resource_access_token_events",
    "resource_deploy_token_events",
    "vulnerability_events",
    *GROUP_FLAGS,
)
"""Events that were added to existing webhooks, which are not subscribed to them."""

hooks = Table(
    "hooks",
    metadata,
    row_id(),
    text("kind"),
    # A project's hook has a project, a group's hook a group, a system hook neither; a service's hook has its owner.
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    # Without credentials, and with unresolved variables.
    text("url"),
    binary("credentials", nullable=True),
    binary("token", nullable=True),
    binary("signing_token", nullable=True),
    binary("custom_headers", nullable=True),
    text("name", nullable=True),
    text("description", nullable=True),
    flag("enable_ssl_verification"),
    text("push_events_branch_filter", nullable=True),
    text("branch_filter_strategy"),
    *(flag(name, server_default=false() if name in LATER_FLAGS else None) for name in EVENT_FLAGS),
    # Number of consecutive failures, and the end of the resulting pause.
    number("failures"),
    text("disabled_until", nullable=True),
    # Worker that is sending for this hook; one at a time, since deliveries are ordered.
    text("lease", nullable=True),
    text("leased_until", nullable=True),
    text("created_at"),
    # Service and its sealed message settings; the URL then contains only the origin.
    reference("service_id", "services.id", nullable=True),
    binary("outfit", nullable=True),
    # Sealed values of the URL variables.
    binary("url_variables", nullable=True),
    text("custom_webhook_template", nullable=True),
    Index("ix_hooks_service_id", "service_id", unique=True),
    Index("ix_hooks_system", "kind", **index_where("kind = 'system'")),
    sqlite_autoincrement=True,
)

# Stored once, regardless of the number of webhooks.
hook_events = Table(
    "hook_events",
    metadata,
    row_id(),
    text("uuid"),
    text("trigger"),
    text("payload"),
    # Data to read from a repository outside of transactions; git objects are immutable.
    text("unfinished", nullable=True),
    text("created_at"),
    Index("ix_hook_events_created_at", "created_at"),
    sqlite_autoincrement=True,
)

hook_attempts = Table(
    "hook_attempts",
    metadata,
    row_id(),
    reference("delivery_id", "hook_deliveries.id", index=True),
    reference("hook_id", "hooks.id"),
    number("attempt"),
    text("url"),
    text("request_headers"),
    number("status", nullable=True),
    text("response_headers"),
    text("response_body"),
    decimal("seconds"),
    text("error", nullable=True),
    text("created_at"),
    Index("ix_hook_attempts_hook_id", "hook_id", "id"),
    sqlite_autoincrement=True,
)


class Hook(Record, frozen=True):
    """A webhook; the secrets are sealed."""

    id: int
    kind: HookKind
    project_id: int | None
    group_id: int | None
    url: str
    credentials: bytes | None
    token: bytes | None
    signing_token: bytes | None
    custom_headers: bytes | None
    name: str | None
    description: str | None
    enable_ssl_verification: bool
    push_events_branch_filter: str | None
    branch_filter_strategy: str
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
    member_events: bool
    subgroup_events: bool
    project_events: bool
    failures: int
    disabled_until: Timestamp | None
    lease: str | None
    leased_until: Timestamp | None
    created_at: Timestamp
    service_id: int | None
    outfit: bytes | None
    url_variables: bytes | None
    custom_webhook_template: str | None


class DeliveryAttempt(Record, frozen=True):
    """A request to a receiver, with the payload unless it is huge; headers are JSON, without secrets."""

    id: int
    delivery_id: int
    hook_id: int
    attempt: int
    url: str
    request_headers: str
    status: int | None
    response_headers: str
    response_body: str
    seconds: float
    error: str | None
    created_at: Timestamp
    event_id: int
    trigger: str
    payload: str


class Delivery(Record, frozen=True):
    """A due delivery of an event to a webhook."""

    id: int
    attempts: int
    event_id: int
    uuid: str
    trigger: str
    payload: str
    unfinished: str | None
