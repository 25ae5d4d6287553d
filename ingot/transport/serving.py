"""Git's own services on one of our repositories: what each is started with."""

import re
from pathlib import Path
from shlex import quote

from ingot.git.core.layout import INTERNAL_REFS, MERGE_REQUEST_REFS
from ingot.git.maintenance.whole_pack import has_whole_pack
from ingot.projects.projects.tables import Project
from ingot.settings import Settings
from ingot.transport.policy import Service

HOOKS_FOLDER = Path(__file__).parent / "hooks"
_VERSION = re.compile(r"version=[012](?::[a-z0-9=:-]{0,100})?")
_MEGABYTE = 2**20
_MAX_UPLOAD_PACK_BYTES = 64 * _MEGABYTE
_MAX_PUSH_COMMANDS_BYTES = 16 * _MEGABYTE


def service_config(service: Service, project: Project, repository: Path, settings: Settings) -> list[tuple[str, str]]:
    """What git is told besides what stands in the repository."""
    if service != "git-receive-pack":
        config = [("uploadpack.hideRefs", prefix) for prefix in hidden_refs(project)]
        if has_whole_pack(repository):
            config.append(("uploadpack.packObjectsHook", quote(str(HOOKS_FOLDER / "pack-objects"))))
        return config
    return [
        ("core.hooksPath", str(HOOKS_FOLDER)),
        # The gate decides, and says it in words that a person understands.
        ("receive.denyDeleteCurrent", "ignore"),
        ("receive.maxInputSize", str(settings.max_push_mb * _MEGABYTE)),
        ("receive.keepAlive", "5"),
        # What was pushed borrows from the repository itself, whose references git has looked at by then.
        ("core.alternateRefsCommand", "true"),
    ]


def hidden_refs(project: Project) -> tuple[str, ...]:
    """What is not served by name."""
    # References of merge requests only concern those who may read them.
    return INTERNAL_REFS if project.merge_requests_enabled else (*INTERNAL_REFS, MERGE_REQUEST_REFS)


def withheld_refs(project: Project) -> tuple[str, ...]:
    """What is not served by an object's id either; nothing where everybody who reads the code may have everything."""
    return () if project.merge_requests_enabled else hidden_refs(project)


def max_body_bytes(service: Service, settings: Settings) -> int:
    """How much a client may send; git itself says when a pack is too large, so it gets a little more than that."""
    if service == "git-receive-pack":
        return settings.max_push_mb * _MEGABYTE + _MAX_PUSH_COMMANDS_BYTES
    return _MAX_UPLOAD_PACK_BYTES


def protocol_environment(asked: str) -> dict[str, str]:
    """The protocol that the client asks for, where that is one; nothing else of its wishes gets into a process."""
    return {"GIT_PROTOCOL": asked} if _VERSION.fullmatch(asked) else {}
