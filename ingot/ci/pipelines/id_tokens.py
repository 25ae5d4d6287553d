"""Signed tokens with which jobs identify themselves to other services (``id_tokens``)."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from ingot.accounts.oauth.signing_key import ALGORITHM, signing_key
from ingot.accounts.users.tables import User
from ingot.ci.config.variables import expand_text
from ingot.ci.job_records.queries import options_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.deployments import environment_of
from ingot.ci.pipelines.ports import CiEnvironment
from ingot.ci.runners.tables import Runner
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.core.late_imports import require_modules
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.tables import Project

_CLOCK_SKEW_SECONDS = 5
_SUBJECT_CLAIMS = ("project_path", "ref_type", "ref")


def id_tokens(
    db: Connection,
    project: Project,
    pipeline: Pipeline,
    job: CiJob,
    runner: Runner,
    user: User | None,
    seconds: int,
    variables: Mapping[str, str],
) -> list[tuple[str, str]]:
    """Return the tokens of a job by the names of their variables; they expire after the given number of seconds.

    ``variables`` are inserted into the audiences. A service verifies a token with the keys of the instance at
    ``/oauth/discovery/keys``.
    """
    requested = options_of(job).id_tokens
    if not requested:
        return []
    # Imported here because most jobs have no tokens.
    require_modules("joserfc", "joserfc.jwt")
    from joserfc import jwt

    environment = db.ports[CiEnvironment]
    key = signing_key(environment.data)
    claims = _claims(db, project, pipeline, job, runner, user, variables)
    now = int(to_datetime(db.now).timestamp())
    claims |= {
        "iss": environment.base_url,
        "sub": _subject(project.ci_options.ci_id_token_sub_claim_components, claims),
        "iat": now,
        "nbf": now - _CLOCK_SKEW_SECONDS,
        "exp": now + seconds,
    }
    header = {"alg": ALGORITHM, "typ": "JWT", "kid": key.thumbprint()}
    return [
        (name, jwt.encode(header, {**claims, "aud": _audience(given, variables), "jti": secrets.token_hex(16)}, key))
        for name, given in requested.items()
    ]


def _audience(given: str | Sequence[str], variables: Mapping[str, str]) -> str | list[str]:
    if isinstance(given, str):
        return expand_text(given, variables)
    return [expand_text(each, variables) for each in given]


def _subject(components: Sequence[str], claims: Mapping[str, Any]) -> str:
    """Return the subject: names and values of the claims that the project has chosen."""
    return ":".join(f"{name}:{claims[name]}" for name in components if name in _SUBJECT_CLAIMS)


def _claims(
    db: Connection,
    project: Project,
    pipeline: Pipeline,
    job: CiJob,
    runner: Runner,
    user: User | None,
    variables: Mapping[str, str],
) -> dict[str, Any]:
    ref = _source_ref(project, pipeline, variables)
    kind = "tag" if pipeline.tag else "branch"
    claims: dict[str, Any] = {
        "namespace_id": str(project.namespace_id),
        "namespace_path": project.full_path.rpartition("/")[0],
        "project_id": str(project.id),
        "project_path": project.full_path,
        "project_visibility": project.visibility,
        "pipeline_id": str(pipeline.id),
        "pipeline_source": pipeline.source,
        "job_id": str(job.id),
        "ref": ref,
        "ref_type": kind,
        "ref_path": ref if ref.startswith("refs/") else f"refs/{'tags' if pipeline.tag else 'heads'}/{ref}",
        "ref_protected": "true" if job.protected else "false",
        "sha": pipeline.sha,
        "runner_id": runner.id,
        "runner_environment": "self-hosted",
    }
    if user is not None:
        claims |= {"user_id": str(user.id), "user_login": user.username, "user_email": user.email}
    environment = environment_of(db, job)
    if environment is not None:
        claims |= {
            "environment": environment.name,
            "environment_protected": "false",
            "environment_action": (options_of(job).environment or {}).get("action", "start"),
            "deployment_tier": environment.tier,
        }
    return claims


def _source_ref(project: Project, pipeline: Pipeline, variables: Mapping[str, str]) -> str:
    """Return the branch or tag of a pipeline; for a merge request its source branch, unless a fork has it.

    A branch of a fork must not be mistaken for the branch of the same name in the project.
    """
    if not pipeline.ref.startswith("refs/merge-requests/"):
        return pipeline.ref
    if variables.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID") != str(project.id):
        return pipeline.ref
    return variables.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") or pipeline.ref
