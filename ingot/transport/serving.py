"""Git's own services on one of our repositories: what each is started with."""

import re
from pathlib import Path

from ingot.projects.tables import Project
from ingot.settings import Settings
from ingot.transport.policy import Service

HOOKS = Path(__file__).parent / "hooks"
_VERSION = re.compile(r"version=[012](?::[a-z0-9=:-]{0,100})?")
_MEGABYTE = 2**20


def service_config(service: Service, project: Project, settings: Settings) -> list[tuple[str, str]]:
    """What git is told besides what stands in the repository."""
    if service != "git-receive-pack":
        # References of merge requests only concern those who may read them.
        return [] if project.merge_requests_enabled else [("uploadpack.hideRefs", "refs/merge-requests")]
    return [
        ("core.hooksPath", str(HOOKS)),
        # The gate decides, and says it in words that a person understands.
        ("receive.denyDeleteCurrent", "ignore"),
        ("receive.maxInputSize", str(settings.max_push_mb * _MEGABYTE)),
        ("receive.keepAlive", "5"),
    ]


def protocol_environment(asked: str) -> dict[str, str]:
    """The protocol that the client asks for, where that is one; nothing else of its wishes gets into a process."""
    return {"GIT_PROTOCOL": asked} if _VERSION.fullmatch(asked) else {}
