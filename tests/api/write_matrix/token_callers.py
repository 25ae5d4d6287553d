"""Callers with tokens that belong to no person: jobs, deploy tokens, and access tokens of projects and groups."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.api.access_tokens.test_access_tokens import bot, create
from tests.api.write_matrix.objects import World
from tests.ci.job_tokens.test_job_tokens import RunningJob
from tests.factories import Project
from tests.packages.client import deploy_token

TOKEN_ROLES = ("guest", "reporter", "developer", "master", "owner")
LEVELS = dict(zip(TOKEN_ROLES, (10, 20, 30, 40, 50), strict=True))
DEPLOY_TOKEN_SCOPES = ("read_repository", "read_registry", "write_registry", "read_package_registry")
# Writing operations that accept the token of a running job, as GitLab's documentation lists them; all others ignore it.
JOB_TOKEN_OPERATIONS = frozenset(
    line.strip()
    for line in """
        POST /projects/{id}/deployments
        DELETE /projects/{id}/deployments/{deployment_id}
        PUT /projects/{id}/deployments/{deployment_id}
        POST /projects/{id}/environments
        DELETE /projects/{id}/environments/{environment_id}
        PUT /projects/{id}/environments/{environment_id}
        POST /projects/{id}/environments/{environment_id}/stop
        DELETE /projects/{id}/environments/review_apps
        POST /projects/{id}/environments/stop_stale
        DELETE /projects/{id}/packages/{package_id}
        DELETE /projects/{id}/packages/{package_id}/package_files/{package_file_id}
        DELETE /projects/{id}/registry/repositories/{repository_id}
        DELETE /projects/{id}/registry/repositories/{repository_id}/tags
        DELETE /projects/{id}/registry/repositories/{repository_id}/tags/{tag_name}
        POST /projects/{id}/releases
        DELETE /projects/{id}/releases/{tag_name}
        PUT /projects/{id}/releases/{tag_name}
        POST /projects/{id}/releases/{tag_name}/assets/links
        DELETE /projects/{id}/releases/{tag_name}/assets/links/{link_id}
        PUT /projects/{id}/releases/{tag_name}/assets/links/{link_id}
        POST /projects/{id}/catalog/publish
        POST /projects/{id}/secure_files
        DELETE /projects/{id}/secure_files/{secure_file_id}
        POST /projects/{id}/terraform/state/{name}
        DELETE /projects/{id}/terraform/state/{name}
        POST /projects/{id}/terraform/state/{name}/lock
        DELETE /projects/{id}/terraform/state/{name}/lock
        DELETE /projects/{id}/terraform/state/{name}/versions/{serial}
    """.strip().splitlines()
)
# Package registries, which accept deploy tokens with their scope and tokens of jobs.
REGISTRY_OPERATIONS = re.compile(r"\w+ /projects/\{id\}/packages/(generic|maven|npm|pypi)(/.*)?")
# Objects that tokens of projects and groups do not see, and whose deletion is then no error.
UNSEEN_BY_BOTS = frozenset({"DELETE /snippets/{id}"})
# Objects of a project whose paths do not name it.
_OBJECTS_OF_PROJECTS = re.compile(r"\w+ /(projects/\{id\}|suggestions/|runners|user/runners).*")


class TokenCaller(NamedTuple):
    """Credential that an operation refuses."""

    name: str
    headers: dict[str, str]
    is_ignored: bool
    """Whether the operation does not accept this kind of credential, so that the response is 401."""


class TokenCallers:
    """Tokens of each role in the project and in the group of a world."""

    def __init__(self, world: World) -> None:
        make, owner = world.make, world.roles.owner
        project = Project(int(world.project_id), world.project_path(), "", world.group.id)
        self._world, self._project = world, project
        self._jobs = {role: self._new_job(role) for role in TOKEN_ROLES}
        other = Project(int(world.other_project), "", "", world.group.id)
        scopes = (*DEPLOY_TOKEN_SCOPES, "write_package_registry")
        self._deploy_token = deploy_token(make.api, owner, project, *scopes)[1]
        self._reading_deploy_token = deploy_token(make.api, owner, project, *DEPLOY_TOKEN_SCOPES)[1]
        self._other_deploy_token = deploy_token(make.api, owner, other, *scopes)[1]
        self._bots = {
            (parent.url, role): bot(create(make.api, owner, parent, access_level=level, scopes=["api"])).token
            for parent in (project, world.group)
            for role, level in LEVELS.items()
        }
        self._project_url, self._group_url = project.url, world.group.url
        trigger = world.post(f"{project.url}/triggers", description="x")["token"]
        self.others = (trigger, self._deploy_token, self._jobs["owner"])
        """Secrets that are no access tokens: of a pipeline trigger, a deploy token and a job."""

    def refused(self, operation: str, lowest: str) -> Iterator[TokenCaller]:
        """Yield the callers that may not send an operation, whose lowest permitted role is given.

        Of the roles below it, the highest one is enough.
        """
        if lowest == "nobody":
            return
        below, is_registry = _role_below(lowest), bool(REGISTRY_OPERATIONS.fullmatch(operation))
        if is_registry:
            yield TokenCaller("deploy token that reads", {"Deploy-Token": self._reading_deploy_token}, False)
            yield TokenCaller("deploy token of another project", {"Deploy-Token": self._other_deploy_token}, False)
        else:
            yield TokenCaller("deploy token", {"Deploy-Token": self._deploy_token}, True)
        if operation not in JOB_TOKEN_OPERATIONS and not is_registry:
            yield TokenCaller("job of the owner", {"JOB-TOKEN": self._jobs["owner"]}, True)
        elif below is not None:
            yield TokenCaller(f"job of a {below}", {"JOB-TOKEN": self._jobs[below]}, False)
        if below is None:
            return
        for url in (self._project_url, self._group_url):
            yield TokenCaller(f"{below} {url}", {"PRIVATE-TOKEN": self._bots[url, below]}, False)
        if not _OBJECTS_OF_PROJECTS.fullmatch(operation):
            yield TokenCaller("owner of the project", {"PRIVATE-TOKEN": self._bots[self._project_url, "owner"]}, False)

    def job_of(self, role: str) -> dict[str, str]:
        """Return the headers of a new job of a user of a role; on a slow machine, an older one may count as stuck."""
        return {"JOB-TOKEN": self._new_job(role)}

    def _new_job(self, role: str) -> str:
        return RunningJob(self._world.make, getattr(self._world.roles, role), self._project).token


def _role_below(role: str) -> str | None:
    if role == "administrator":
        return TOKEN_ROLES[-1]
    position = TOKEN_ROLES.index(role) if role in TOKEN_ROLES else 0
    return TOKEN_ROLES[position - 1] if position else None
