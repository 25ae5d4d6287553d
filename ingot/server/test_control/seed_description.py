"""Description of the data that a test needs: users, groups and projects with their contents, as JSON or YAML."""

from typing import Annotated, Any, Literal

import msgspec

from ingot.core.errors import Invalid

_HOOK_EVENTS = ("push_events", "issues_events", "merge_requests_events", "note_events", "pipeline_events")


class SeedUser(msgspec.Struct, forbid_unknown_fields=True):
    """A user, for whom a token with the scope api is created."""

    username: str
    name: str = ""
    email: str = ""
    password: str = "correct-horse-battery"  # noqa: S105 - Default of users that exist only in tests.
    admin: bool = False


class SeedGroup(msgspec.Struct, forbid_unknown_fields=True):
    """A group; a path with slashes names a subgroup of a group before it."""

    path: str
    name: str = ""
    visibility: str = "private"
    members: dict[str, str] = {}
    """Names of access levels by user name."""


class SeedIssue(msgspec.Struct, forbid_unknown_fields=True):
    """An issue, and its comments by root or its author."""

    title: str
    description: str = ""
    author: str = ""
    labels: list[str] = []
    assignee: str = ""
    state: Literal["opened", "closed"] = "opened"
    comments: list[str] = []


class SeedMergeRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A merge request between two branches of the project."""

    title: str
    source_branch: str
    target_branch: str = ""
    """By default the default branch of the project."""
    description: str = ""
    author: str = ""
    labels: list[str] = []
    state: Literal["opened", "closed", "merged"] = "opened"


class SeedPipeline(msgspec.Struct, forbid_unknown_fields=True):
    """A pipeline that consists of external statuses of the newest commit of a branch or tag."""

    ref: str = ""
    statuses: Annotated[dict[str, str], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: {"build": "success"}
    )
    """States by name."""


class SeedHook(msgspec.Struct, forbid_unknown_fields=True):
    """A webhook; without a URL, deliveries go to the built-in receiver."""

    url: str = ""
    receiver: str = "default"
    events: list[str] = msgspec.field(default_factory=lambda: list(_HOOK_EVENTS))
    token: str = ""


class SeedProject(msgspec.Struct, forbid_unknown_fields=True):
    """A project with files, branches, issues, merge requests, pipelines and webhooks."""

    path: str
    """Path with its namespace, such as ``tools/hammer``; without one, the project belongs to ``owner``."""
    owner: str = "root"
    name: str = ""
    description: str = ""
    visibility: str = "private"
    default_branch: str = ""
    files: dict[str, str] = {}
    """Contents by path, on the default branch."""
    branches: dict[str, dict[str, str]] = {}
    """Files that each branch changes, by branch."""
    tags: list[str] = []
    members: dict[str, str] = {}
    labels: list[str] = []
    milestones: list[str] = []
    issues: list[SeedIssue] = []
    merge_requests: list[SeedMergeRequest] = []
    pipelines: list[SeedPipeline] = []
    hooks: list[SeedHook] = []


class SeedDescription(msgspec.Struct, forbid_unknown_fields=True):
    """Everything that one call creates, in this order."""

    users: list[SeedUser] = []
    groups: list[SeedGroup] = []
    projects: list[SeedProject] = []


def parse_description(body: bytes) -> SeedDescription:
    """Parse JSON or YAML; raise ``Invalid`` with the place of the first mistake."""
    try:
        return msgspec.convert(_document(body), SeedDescription)
    except RecursionError as error:
        raise Invalid("The description is nested too deeply") from error
    except (msgspec.ValidationError, UnicodeDecodeError) as error:
        raise Invalid(f"The description is not valid: {error}") from error


def _document(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:  # YAML, or nothing.
        pass
    # Loaded here, because most servers never need it and it takes a twentieth of the startup time.
    import yaml

    try:
        return yaml.safe_load(body) or {}
    except yaml.YAMLError as error:
        raise Invalid(f"The description is not valid: {error}") from error
