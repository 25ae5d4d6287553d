"""Faults that tests inject, and results of the control endpoints."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FaultInjection:
    """A fault of the responses to matching requests; docs/testing.md describes the fields."""

    method: str = ""
    path: str = ""
    times: int | None = None
    rate: float = 1.0
    delay: float = 0.0
    status: int | None = None
    body: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    retry_after: int | None = None
    reset: str = ""
    truncate: int | None = None
    slow: int | None = None


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the server has received, with its response; secrets are redacted."""

    id: int
    method: str
    path: str
    query: dict[str, Any]
    headers: dict[str, str]
    body: Any
    status: int
    response_headers: dict[str, str]
    response_body: Any


@dataclass(frozen=True)
class HookDelivery:
    """A delivery that the built-in receiver of webhooks got."""

    id: int
    """Position among the deliveries since the last reset."""
    receiver: str
    """Last part of the URL to which it was sent."""
    event: str
    """Value of ``X-Gitlab-Event``, such as ``Push Hook``."""
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class SeededUser:
    """A user with a token that has the scope api."""

    id: int
    username: str
    token: str


@dataclass(frozen=True)
class SeededGroup:
    """A group or subgroup."""

    id: int
    full_path: str


@dataclass(frozen=True)
class SeededItem:
    """An issue or a merge request."""

    id: int
    iid: int
    """Number within the project."""


@dataclass(frozen=True)
class SeededPipeline:
    """A pipeline of external statuses."""

    id: int
    sha: str
    status: str


@dataclass(frozen=True)
class SeededHook:
    """A webhook."""

    id: int
    url: str


@dataclass(frozen=True)
class SeededProject:
    """A project with its contents, each in the order of the description."""

    id: int
    path_with_namespace: str
    default_branch: str
    issues: list[SeededItem]
    merge_requests: list[SeededItem]
    pipelines: list[SeededPipeline]
    hooks: list[SeededHook]

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "SeededProject":
        """Return the project of a response."""
        return cls(
            document["id"],
            document["path_with_namespace"],
            document["default_branch"],
            [SeededItem(**each) for each in document["issues"]],
            [SeededItem(**each) for each in document["merge_requests"]],
            [SeededPipeline(**each) for each in document["pipelines"]],
            [SeededHook(**each) for each in document["hooks"]],
        )


@dataclass(frozen=True)
class SeededData:
    """Result of one call of ``seed``, in the order of the description."""

    users: list[SeededUser]
    groups: list[SeededGroup]
    projects: list[SeededProject]

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "SeededData":
        """Return the data of a response."""
        return cls(
            [SeededUser(**each) for each in document["users"]],
            [SeededGroup(**each) for each in document["groups"]],
            [SeededProject.from_document(each) for each in document["projects"]],
        )
