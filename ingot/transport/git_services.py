"""Configuration, environment and limits with which git's services run on our repositories."""

import re
from pathlib import Path

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.core.db.connection import Connection
from ingot.core.settings import Settings
from ingot.git.core.layout import INTERNAL_REFS, MERGE_REQUEST_REFS
from ingot.projects.projects.tables import Project
from ingot.transport.policy import Service

HOOKS = Path(__file__).parent / "hooks"
_PROTOCOL = re.compile(r"version=[012](?::[a-z0-9=:-]{0,100})?")
_MEGABYTE = 2**20
_MAX_FETCH_REQUEST_BYTES = 64 * _MEGABYTE
_MAX_PUSH_COMMANDS_BYTES = 16 * _MEGABYTE


def service_config(service: Service, project: Project | None, max_push_bytes: int) -> list[tuple[str, str]]:
    """Return the git configuration of a service, in addition to that of the repository."""
    if service != "git-receive-pack":
        return [("uploadpack.hideRefs", prefix) for prefix in hidden_refs(project)]
    return [
        ("core.hooksPath", str(HOOKS)),
        # The server updates the refs of a large push itself.
        ("receive.procReceiveRefs", "refs"),
        # The pre-receive check decides about deletions, with a message that users understand.
        ("receive.denyDeleteCurrent", "ignore"),
        ("receive.maxInputSize", str(max_push_bytes)),
        ("receive.keepAlive", "5"),
        # Larger files are checked in pieces instead of in memory, in at most two threads.
        ("core.bigFileThreshold", "64m"),
        ("pack.threads", "2"),
        # The quarantine borrows from the repository itself, whose refs git has read by then.
        ("core.alternateRefsCommand", "true"),
    ]


def bundle_config(url: str | None) -> list[tuple[str, str]]:
    """Return the configuration with which upload-pack names a bundle to clients; git before 2.40 ignores it."""
    if url is None:
        return []
    return [
        ("uploadpack.advertiseBundleURIs", "true"),
        ("bundle.version", "1"),
        ("bundle.mode", "all"),
        ("bundle.main.uri", url),
    ]


def hidden_refs(project: Project | None) -> tuple[str, ...]:
    """Return the prefixes of refs that are not served by name; the wiki of a group has no project."""
    # Refs of merge requests are only for users who may read merge requests.
    return withheld_refs(project) or INTERNAL_REFS


def withheld_refs(project: Project | None) -> tuple[str, ...]:
    """Return the prefixes of refs whose objects are not served by id either; none if readers may have all objects."""
    if project is None or project.merge_requests_enabled:
        return ()
    return (*INTERNAL_REFS, MERGE_REQUEST_REFS)


def max_request_bytes(service: Service, max_push_bytes: int) -> int:
    """Return how much a client may send; for a pack slightly more than git's own limit, so that git reports it."""
    if service == "git-receive-pack":
        return max_push_bytes + _MAX_PUSH_COMMANDS_BYTES
    return _MAX_FETCH_REQUEST_BYTES


def protocol_environment(requested: str) -> dict[str, str]:
    """Return the environment for a requested protocol version; an invalid value is ignored."""
    return {"GIT_PROTOCOL": requested} if _PROTOCOL.fullmatch(requested) else {}


def max_push_bytes(db: Connection, settings: Settings) -> int:
    """Return the size of the largest push: the limit of the administrators, but not more than the startup setting."""
    limit = cached_all_settings(db).receive_max_input_size
    return min(settings.max_push_mb, limit or settings.max_push_mb) * _MEGABYTE
