"""Which of git's services a caller may use on a project."""

from typing import Literal

from ingot.accounts.instance.settings import GitProtocol, allows_protocol
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.errors import Denied
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.policy import push_refusal
from ingot.transport.callers import Authenticate, GitCaller

Service = Literal["git-upload-pack", "git-receive-pack", "git-upload-archive"]
SERVICES: tuple[Service, ...] = ("git-upload-pack", "git-receive-pack", "git-upload-archive")


def protocol_refusal(db: Connection, protocol: GitProtocol) -> str | None:
    """Why nobody may come this way, where administrators left only the other open."""
    if allows_protocol(db, protocol):
        return None
    other = "SSH" if protocol == "http" else "HTTP"
    return f"Git access over {protocol.upper()} is not allowed. Use the {other} address of the project."


def service_refusal(caller: GitCaller, access: Access, project: Project, service: Service) -> str | None:
    """Why they may not, in a sentence for the terminal; nothing where they may."""
    if service == "git-receive-pack":
        if not caller.writes:
            return "This token cannot push: it lacks the scope write_repository or api."
        if caller.is_deploy_key and access.level < Level.MASTER:
            return "This deploy key does not have write access to this project."
        return push_refusal(caller.actor, access, project)
    if not caller.may_read:
        return "This token cannot read repositories: it lacks the scope read_repository or api."
    if not may_download_code(caller.actor, access, project):
        return "You are not allowed to download code from this project."
    return None


def require_service(
    db: Connection, authenticate: Authenticate, project: Project, service: Service
) -> tuple[GitCaller, Access, Project]:
    """What a caller holds at this moment: a long transfer may end after it was taken from them."""
    caller = authenticate(db)
    access, project = caller.find(db, str(project.id))
    denied = service_refusal(caller, access, project, service)
    if denied is not None:
        raise Denied(denied)
    return caller, access, project
