"""Jobs as the server assigns them: the part of the response to ``POST /jobs/request`` that this runner uses."""

from typing import Any

import msgspec


class VariableSpec(msgspec.Struct, frozen=True):
    """A variable of a job; of several with the same key, the last one counts."""

    key: str
    value: str
    file: bool = False
    masked: bool = False
    raw: bool = False


class GitSource(msgspec.Struct, frozen=True):
    """The commit that a job checks out."""

    repo_url: str
    ref: str
    sha: str
    ref_type: str = "branch"
    refspecs: list[str] | None = None
    depth: int | None = None


class StepSpec(msgspec.Struct, frozen=True):
    """Commands that run in a shell of their own."""

    name: str
    script: list[str] | None = None
    timeout: int | None = None
    when: str = "on_success"
    allow_failure: bool = False


class ArtifactSpec(msgspec.Struct, frozen=True):
    """Files to upload when the steps have ended."""

    name: str | None = None
    untracked: bool | None = False
    paths: list[str] | None = None
    exclude: list[str] | None = None
    when: str | None = None
    expire_in: str | None = None
    artifact_type: str | None = None
    artifact_format: str | None = None


class CacheSpec(msgspec.Struct, frozen=True):
    """Files that later jobs of the project may reuse."""

    key: str | None = None
    untracked: bool | None = False
    paths: list[str] | None = None
    policy: str | None = None
    when: str | None = None
    fallback_keys: list[str] | None = None


class ArtifactFile(msgspec.Struct, frozen=True):
    """An archive that a dependency has uploaded."""

    filename: str
    size: int | None = None


class DependencySpec(msgspec.Struct, frozen=True):
    """An earlier job whose archive this job needs."""

    id: int
    token: str
    name: str
    artifacts_file: ArtifactFile | None = None


class JobNames(msgspec.Struct, frozen=True):
    """Names for messages."""

    name: str = ""
    stage: str = ""
    project_id: int = 0
    project_name: str = ""


class AssignedLimits(msgspec.Struct, frozen=True):
    """Limits that the server sets."""

    timeout: int | None = None


class ServerFeatures(msgspec.Struct, frozen=True):
    """Abilities of the server."""

    trace_sections: bool = False
    token_mask_prefixes: list[str] | None = None
    failure_reasons: list[str] | None = None


class VaultAuth(msgspec.Struct, frozen=True):
    """Sign-in of a job to Vault; the values may contain variables."""

    name: str = "jwt"
    path: str = "jwt"
    data: dict[str, Any] = {}


class VaultServer(msgspec.Struct, frozen=True):
    """Address of Vault."""

    url: str
    auth: VaultAuth = VaultAuth()
    namespace: str = ""


class VaultEngine(msgspec.Struct, frozen=True):
    """Secrets engine of Vault."""

    name: str
    path: str


class VaultSecret(msgspec.Struct, frozen=True):
    """Field of a secret in Vault."""

    server: VaultServer
    engine: VaultEngine
    path: str
    field: str


class SecretSpec(msgspec.Struct, frozen=True):
    """A secret that the runner fetches; without ``vault``, it comes from another provider."""

    vault: VaultSecret | None = None
    file: bool | None = None


class AssignedJob(msgspec.Struct, frozen=True):
    """A job that this runner executes."""

    id: int
    token: str
    git_info: GitSource
    allow_git_fetch: bool = False
    job_info: JobNames = JobNames()
    runner_info: AssignedLimits | None = None
    variables: list[VariableSpec] | None = None
    steps: list[StepSpec] | None = None
    # Old servers send [null] for none.
    artifacts: list[ArtifactSpec | None] | None = None
    cache: list[CacheSpec | None] | None = None
    dependencies: list[DependencySpec] | None = None
    secrets: dict[str, SecretSpec] | None = None
    features: ServerFeatures | None = None

    @property
    def server_features(self) -> ServerFeatures:
        """Return the abilities of the server; those of an old one if it sent none."""
        return self.features or ServerFeatures()


def parse_assignment(body: bytes) -> AssignedJob:
    """Parse the response to a request for a job; raise ``msgspec.DecodeError`` if it is unusable."""
    return msgspec.json.decode(body, type=AssignedJob)
