"""The rate limits that administrators can set: which requests each one counts, for whom, and for how long.

The periods of limits by route are GitLab's. All limits are off by default.
"""

import re
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from ingot.accounts.instance.all_settings import AllSettings
from ingot.core.api.rate_limits import RequestKind

Callers = Literal["all", "users", "anonymous"]
"""Users include deploy tokens; anonymous callers are counted by their network."""
LimitedKind = Literal["api", "files", "packages", "page", "lfs", "git"]
_FILES = re.compile(r"/projects/:id/repository/files/.+")
_PACKAGES = re.compile(r"(/projects/:id|/groups?/:id/-)?/packages/[A-Za-z].*")


class KindLimit(NamedTuple):
    """Limit of all requests of a kind, by the settings ``<name>_enabled``, ``…_requests_per_period`` and so on."""

    name: str
    requests: tuple[LimitedKind, ...]
    callers: Callers


THROTTLES = (
    KindLimit("throttle_authenticated_files_api", ("files",), "users"),
    KindLimit("throttle_unauthenticated_files_api", ("files",), "anonymous"),
    KindLimit("throttle_authenticated_packages_api", ("packages",), "users"),
    KindLimit("throttle_unauthenticated_packages_api", ("packages",), "anonymous"),
    KindLimit("throttle_authenticated_api", ("api", "files", "packages"), "users"),
    KindLimit("throttle_unauthenticated_api", ("api", "files", "packages"), "anonymous"),
    KindLimit("throttle_authenticated_web", ("page",), "users"),
    KindLimit("throttle_unauthenticated_web", ("page",), "anonymous"),
    KindLimit("throttle_authenticated_git_lfs", ("lfs",), "users"),
    KindLimit("throttle_unauthenticated_git_http", ("git",), "anonymous"),
    KindLimit("throttle_unauthenticated", ("api", "files", "packages", "page"), "anonymous"),
)
"""A request counts for the first one that is enabled for it and its caller."""

PROTECTED_PATHS = "throttle_protected_paths"
"""Throttle of requests to the paths in ``protected_paths`` and, for GET, ``protected_paths_for_get_request``."""


class RouteLimit(NamedTuple):
    """Limit of requests to some routes; the setting is the number of requests, and 0 means no limit."""

    setting: str
    routes: tuple[str, ...]
    """Methods and paths of endpoints and, after ``page``, of pages; ``*`` stands for any text. Or a kind of request."""
    seconds: int = 60
    callers: Callers = "all"
    per: tuple[str, ...] = ()
    """Parameters of the path: each value is counted apart."""
    by_caller: bool = True
    """False counts the requests of all callers together."""
    allowlist: str = ""
    """Setting with the names of users whom it does not limit."""
    exempts_administrators: bool = False


_SEARCHES = (
    "GET /search",
    "GET /groups/:id/search",
    "GET /groups/:id/-/search",
    "GET /projects/:id/search",
    "GET /projects/:id/-/search",
    "page GET /search",
    "page GET /groups/:path/-/search",
    "page GET /:path/-/search",
)
_NEW_NOTES = ("POST */notes", "POST */discussions", "POST */draft_notes", "POST */commits/:sha/comments")

ROUTE_LIMITS = (
    RouteLimit("search_rate_limit", _SEARCHES, callers="users", allowlist="search_rate_limit_allowlist"),
    RouteLimit("search_rate_limit_unauthenticated", _SEARCHES, callers="anonymous"),
    RouteLimit("notes_create_limit", _NEW_NOTES, callers="users", allowlist="notes_create_limit_allowlist"),
    RouteLimit("issues_create_limit", ("POST /projects/:id/issues",), callers="users"),
    RouteLimit("raw_blob_request_limit", ("page GET /:path/-/raw/:rest",), per=("path", "rest"), by_caller=False),
    RouteLimit("projects_api_limit", ("GET /projects",), 600),
    RouteLimit("projects_api_rate_limit_unauthenticated", ("GET /projects",), 600, "anonymous"),
    RouteLimit("project_api_limit", ("GET /projects/:id",)),
    RouteLimit("project_invited_groups_api_limit", ("GET /projects/:id/invited_groups",)),
    RouteLimit("project_jobs_api_rate_limit", ("GET /projects/:id/jobs",)),
    RouteLimit("user_projects_api_limit", ("GET /users/:user_id/projects",)),
    RouteLimit("user_contributed_projects_api_limit", ("GET /users/:id/contributed_projects",)),
    RouteLimit("user_starred_projects_api_limit", ("GET /users/:user_id/starred_projects",)),
    RouteLimit("groups_api_limit", ("GET /groups",)),
    RouteLimit("group_api_limit", ("GET /groups/:id",)),
    RouteLimit("group_projects_api_limit", ("GET /groups/:id/projects",)),
    RouteLimit("group_shared_groups_api_limit", ("GET /groups/:id/groups/shared",)),
    RouteLimit("group_invited_groups_api_limit", ("GET /groups/:id/invited_groups",)),
    RouteLimit(
        "members_delete_limit",
        ("DELETE /projects/:id/members/:user_id", "DELETE /groups/:id/members/:user_id"),
        callers="users",
        per=("id",),
    ),
    RouteLimit("users_api_limit_followers", ("GET /users/:id/followers",)),
    RouteLimit("users_api_limit_following", ("GET /users/:id/following",)),
    RouteLimit("users_api_limit_status", ("GET /users/:id/status",)),
    RouteLimit("users_api_limit_ssh_keys", ("GET /users/:id/keys",)),
    RouteLimit("users_api_limit_ssh_key", ("GET /users/:id/keys/:key_id",)),
    RouteLimit("users_api_limit_gpg_keys", ("GET /users/:id/gpg_keys",)),
    RouteLimit("users_api_limit_gpg_key", ("GET /users/:id/gpg_keys/:key_id",)),
    RouteLimit(
        "users_get_by_id_limit",
        ("GET /users/:id",),
        600,
        "users",
        allowlist="users_get_by_id_limit_allowlist",
        exempts_administrators=True,
    ),
    RouteLimit("project_export_limit", ("POST /projects/:id/export",)),
    RouteLimit(
        "project_download_export_limit",
        ("GET /projects/:id/export/download", "page GET /:path/-/settings/export/download"),
        per=("id", "path"),
    ),
    RouteLimit("project_import_limit", ("POST /projects/import", "POST /projects/remote-import")),
    RouteLimit("group_export_limit", ("POST /groups/:id/export",)),
    RouteLimit(
        "group_download_export_limit",
        ("GET /groups/:id/export/download", "page GET /groups/:path/-/settings/export/download"),
        per=("id", "path"),
    ),
    RouteLimit("group_import_limit", ("POST /groups/import",)),
    RouteLimit("autocomplete_users_limit", ("page GET /-/people",)),
    RouteLimit("gitlab_shell_operation_limit", ("ssh",), per=("service", "path")),
)
"""A request counts for each of them that applies to it."""


class ActiveLimit(NamedTuple):
    """A limit that is on, with the values of its settings."""

    name: str
    requests: int
    seconds: int
    callers: Callers = "all"
    per: tuple[str, ...] = ()
    by_caller: bool = True
    exempt_users: frozenset[str] = frozenset()
    exempts_administrators: bool = False
    protected_paths: tuple[str, ...] = ()
    """Beginnings of paths, if it counts these only."""

    @property
    def per_minute(self) -> int:
        """Return the number of requests per minute, rounded up."""
        return -(-self.requests * 60 // max(1, self.seconds))

    @property
    def counts_alike(self) -> bool:
        """Return whether it counts every request of a caller, with one counter."""
        exempts = self.exempt_users or self.exempts_administrators or self.protected_paths
        return self.by_caller and not self.per and not exempts


class ActiveLimits(NamedTuple):
    """The limits that count requests to a route, by their callers, in the order in which they are counted."""

    users: tuple[ActiveLimit, ...]
    anonymous: tuple[ActiveLimit, ...]
    addresses: ActiveLimit | None = None
    """The limit of the addresses of each user, which counts no requests."""
    single: str = ""
    """Name of the limit of users, if it is the only one and counts all their requests alike."""


def active_limits(settings: AllSettings, kind: RequestKind, method: str, route: str) -> ActiveLimits | None:
    """Return the limits that count requests to a route; None if there are none."""
    limits = [*_throttles(settings, kind, route), *_route_limits(settings, kind, method, route)]
    protected = {"POST": settings.protected_paths, "GET": settings.protected_paths_for_get_request}.get(method)
    if settings.throttle_protected_paths_enabled and protected and kind in ("api", "page"):
        limits.append(_throttle(settings, PROTECTED_PATHS, "all")._replace(protected_paths=protected))
    addresses = None
    if settings.unique_ips_limit_enabled and kind != "inside":
        window = settings.unique_ips_limit_time_window
        addresses = ActiveLimit("unique_ips_limit", settings.unique_ips_limit_per_user, window, "users")
    if not limits and addresses is None:
        return None
    users = tuple(limit for limit in limits if limit.callers != "anonymous")
    anonymous = tuple(limit for limit in limits if limit.callers != "users")
    is_single = len(users) == 1 and addresses is None and users[0].counts_alike
    return ActiveLimits(users, anonymous, addresses, users[0].name if is_single else "")


def any_active(settings: AllSettings) -> bool:
    """Return whether any limit is on."""
    if settings.unique_ips_limit_enabled:
        return True
    throttles = (*(throttle.name for throttle in THROTTLES), PROTECTED_PATHS)
    flags = (f"{name}_enabled" for name in throttles)
    numbers = (limit.setting for limit in ROUTE_LIMITS)
    return any(getattr(settings, name) for name in (*flags, *numbers))


def _throttles(settings: AllSettings, kind: RequestKind, route: str) -> list[ActiveLimit]:
    """Return the first throttle for users and the first one for anonymous callers."""
    requests = _throttled_as(kind, route)
    limits: dict[Callers, ActiveLimit] = {}
    for throttle in THROTTLES:
        enabled = throttle.callers not in limits and getattr(settings, f"{throttle.name}_enabled")
        if enabled and requests in throttle.requests:
            limits[throttle.callers] = _throttle(settings, throttle.name, throttle.callers)
    return list(limits.values())


def _throttled_as(kind: RequestKind, route: str) -> str:
    if kind != "api":
        return kind
    return "files" if _FILES.fullmatch(route) else "packages" if _PACKAGES.fullmatch(route) else "api"


def _throttle(settings: AllSettings, name: str, callers: Callers) -> ActiveLimit:
    requests = getattr(settings, f"{name}_requests_per_period")
    return ActiveLimit(name, requests, getattr(settings, f"{name}_period_in_seconds"), callers)


def _route_limits(settings: AllSettings, kind: RequestKind, method: str, route: str) -> list[ActiveLimit]:
    names = {"page": f"page {method} {route}", "lfs": "lfs", "ssh": "ssh"}
    name = names.get(kind, f"{method} {route}")
    return [
        ActiveLimit(
            limit.setting,
            getattr(settings, limit.setting),
            limit.seconds,
            limit.callers,
            limit.per,
            limit.by_caller,
            frozenset(user.lower() for user in getattr(settings, limit.allowlist)) if limit.allowlist else frozenset(),
            limit.exempts_administrators,
        )
        for limit in ROUTE_LIMITS
        if getattr(settings, limit.setting) and any(fnmatchcase(name, pattern) for pattern in limit.routes)
    ]
