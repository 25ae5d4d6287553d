"""Permissions to use git services on projects."""

from typing import Literal

from ingot.accounts.instance.access_settings import TERMS_NOT_ACCEPTED
from ingot.accounts.instance.settings import GitProtocol, allows_protocol
from ingot.core.access.actor import JobIdentity
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied
from ingot.projects.namespaces.group_rules import allows_group_protocol
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.policy import push_refusal
from ingot.transport.callers import READ_ONLY_DEPLOY_KEY, Authenticate, DeployKeyAccess, GitCaller

Service = Literal["git-upload-pack", "git-receive-pack", "git-upload-archive"]
SERVICES: tuple[Service, ...] = ("git-upload-pack", "git-receive-pack", "git-upload-archive")


JOB_TOKEN_CANNOT_PUSH = "This job token cannot push: only jobs of the project itself may, if its settings allow it."  # noqa: S105 - A message, not a secret.


def may_push_with_job_token(job: JobIdentity, project: Project) -> bool:
    """Jobs of the project itself, if it allows them to."""
    return job.project_id == project.id and project.ci_options.ci_push_repository_for_job_token_allowed


def protocol_refusal(db: Connection, protocol: GitProtocol, namespace_id: int | None = None) -> str | None:
    """Return a message if administrators have disabled a protocol, or the group above a namespace has."""
    if allows_protocol(db, protocol) and (namespace_id is None or allows_group_protocol(db, namespace_id, protocol)):
        return None
    other = "SSH" if protocol == "http" else "HTTP"
    return f"Git access over {protocol.upper()} is not allowed. Use the {other} address of the project."


def service_refusal(caller: GitCaller, access: Access, project: Project, service: Service) -> str | None:
    """Return a message if the caller may not use a service on a project."""
    if caller.terms_due:
        return TERMS_NOT_ACCEPTED
    if service == "git-receive-pack":
        if not caller.can_write:
            return "This token cannot push: it lacks the scope write_repository or api."
        if caller.actor.job is not None and not may_push_with_job_token(caller.actor.job, project):
            return JOB_TOKEN_CANNOT_PUSH
        if caller.is_deploy_key and not isinstance(access, DeployKeyAccess):  # A public project without this key.
            return READ_ONLY_DEPLOY_KEY
        if isinstance(access, DeployKeyAccess) and access.push_refusal is not None:
            return access.push_refusal
        return push_refusal(caller.actor, access, project)
    if not caller.can_read:
        return "This token cannot read repositories: it lacks the scope read_repository or api."
    if not may_download_code(caller.actor, access, project):
        return "You are not allowed to download code from this project."
    return None


def current_access(
    db: Connection, authenticate: Authenticate, project: Project, service: Service
) -> tuple[GitCaller, Access, Project]:
    """Check the permission again, because it may be revoked during a long transfer; raise ``Denied``."""
    caller = authenticate(db)
    access, project = caller.find(db, str(project.id))
    denied = service_refusal(caller, access, project, service)
    if denied is not None:
        raise Denied(denied)
    return caller, access, project
