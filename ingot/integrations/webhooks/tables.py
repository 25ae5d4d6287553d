"""What is stored of hooks: themselves, what there is to tell, whom to tell it, and how that went."""

from typing import Literal

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, binary, decimal, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

HookKind = Literal["project", "group", "system", "service"]
DeliveryState = Literal["waiting", "done", "failed"]

# What a hook can ask for, as the API names it.
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
)

hooks = Table(
    "hooks",
    metadata,
    row_id(),
    text("kind"),
    # A project's hook has a project, a group's a group, and a system hook neither; a service tells of its project.
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    # Without the user name and password that it may have been given with, and with its variables as names.
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
    *(flag(name) for name in EVENT_FLAGS),
    # How often it failed in a row, and until when it is left alone for that.
    number("failures"),
    text("disabled_until", nullable=True),
    # Who sends for it now; one at a time, since what a hook tells is told in order.
    text("lease", nullable=True),
    text("leased_until", nullable=True),
    text("created_at"),
    # For whom it tells, and in which clothes, sealed; the URL is then only where that is, without the way there.
    reference("service_id", "services.id", nullable=True),
    binary("outfit", nullable=True),
    # What names in braces in the URL stand for, sealed.
    binary("url_variables", nullable=True),
    Index("ix_hooks_service_id", "service_id", unique=True),
    Index("ix_hooks_system", "kind", **index_where("kind = 'system'")),
    sqlite_autoincrement=True,
)

# Stored once, however many hooks are told of it.
hook_events = Table(
    "hook_events",
    metadata,
    row_id(),
    text("uuid"),
    text("trigger"),
    text("payload"),
    # What is still to be read from a repository, which no transaction waits for; objects there never change.
    text("unfinished", nullable=True),
    text("created_at"),
    Index("ix_hook_events_created_at", "created_at"),
    sqlite_autoincrement=True,
)

hook_deliveries = Table(
    "hook_deliveries",
    metadata,
    row_id(),
    reference("event_id", "hook_events.id", index=True),
    reference("hook_id", "hooks.id"),
    text("state"),
    number("attempts"),
    text("due_at"),
    # When that was decided; a clock that was set back since then shows here.
    text("placed_at"),
    Index("ix_hook_deliveries_hook_id", "hook_id", "id"),
    # By these the dispatcher steps from hook to hook, and reads what one has to tell in order.
    Index(
        "ix_hook_deliveries_waiting_due",
        "hook_id",
        "due_at",
        **index_where("state = 'waiting'"),
    ),
    Index(
        "ix_hook_deliveries_waiting_tried",
        "hook_id",
        "attempts",
        "id",
        **index_where("state = 'waiting'"),
    ),
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
    """Somebody elsewhere who wants to be told; the secrets are sealed."""

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
    failures: int
    disabled_until: Timestamp | None
    lease: str | None
    leased_until: Timestamp | None
    created_at: Timestamp
    service_id: int | None
    outfit: bytes | None
    url_variables: bytes | None


class DeliveryAttempt(Record, frozen=True):
    """One request to a receiver, with what was to be told unless that is huge; headers are JSON, without secrets."""

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
    """Something to tell a hook, when its time has come."""

    id: int
    attempts: int
    event_id: int
    uuid: str
    trigger: str
    payload: str
    unfinished: str | None
