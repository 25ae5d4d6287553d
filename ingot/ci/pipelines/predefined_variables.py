"""Predefined variables of pipelines and jobs, without database."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from ingot.ci.job_records.dependencies import name_of_copies
from ingot.ci.job_records.queries import options_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.ports import CiEnvironment
from ingot.ci.runners.tables import Runner
from ingot.core.db.times import to_datetime
from ingot.git.history.commits import Commit
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.tables import Project

DEFAULT_CONFIG_PATH = ".gitlab-ci.yml"
MAX_MESSAGE_LENGTH = 32_000
"""The environment of a process holds 128 kB per variable, in bytes."""
SHORT_SHA_LENGTH = 8
_SLUG_LENGTH = 63
_DEFAULT_PORTS = {"http": 80, "https": 443}
Variables = Iterator[tuple[str, str]]


def slug(text: str) -> str:
    """Return a name as a DNS label: lowercase, other characters as dashes, at most 63 characters."""
    return re.sub(r"[^a-z0-9]", "-", text.lower())[:_SLUG_LENGTH].strip("-")


def flag_text(value: bool) -> str:
    """Return a boolean as variables express it."""
    return "true" if value else "false"


def registry_host(base_url: str) -> str:
    """Return the host of the container registry, with which the names of images begin: that of the instance."""
    return urlsplit(base_url).netloc


def instance_variables(environment: CiEnvironment) -> Variables:
    """Yield variables that are the same for all jobs of the instance."""
    url = urlsplit(environment.base_url)
    port = url.port or _DEFAULT_PORTS.get(url.scheme, 80)
    host = url.hostname or ""
    major, minor, patch = (*environment.version.split("."), "0", "0")[:3]
    yield "CI", "true"
    yield "GITLAB_CI", "true"
    yield "CI_SERVER", "yes"
    yield "CI_SERVER_NAME", "GitLab"
    yield "CI_SERVER_URL", environment.base_url
    yield "CI_SERVER_HOST", host
    yield "CI_SERVER_PORT", str(port)
    yield "CI_SERVER_PROTOCOL", url.scheme
    yield "CI_SERVER_FQDN", url.netloc
    yield "CI_SERVER_VERSION", environment.version
    yield "CI_SERVER_VERSION_MAJOR", major
    yield "CI_SERVER_VERSION_MINOR", minor
    yield "CI_SERVER_VERSION_PATCH", patch
    yield "CI_SERVER_REVISION", ""
    yield "CI_API_V4_URL", f"{environment.base_url}/api/v4"
    yield "CI_API_GRAPHQL_URL", f"{environment.base_url}/api/graphql"
    yield "GITLAB_FEATURES", ""


def project_variables(project: Project, base_url: str) -> Variables:
    """Yield variables of a project."""
    yield "CI_PROJECT_ID", str(project.id)
    yield "CI_PROJECT_NAME", project.path
    yield "CI_PROJECT_TITLE", project.name
    yield "CI_PROJECT_DESCRIPTION", project.description or ""
    yield "CI_PROJECT_PATH", project.full_path
    yield "CI_PROJECT_PATH_SLUG", slug(project.full_path)
    yield "CI_PROJECT_NAMESPACE", project.space_full_path
    yield "CI_PROJECT_NAMESPACE_SLUG", slug(project.space_full_path)
    yield "CI_PROJECT_NAMESPACE_ID", str(project.namespace_id)
    yield "CI_PROJECT_ROOT_NAMESPACE", project.full_path.partition("/")[0]
    yield "CI_PROJECT_URL", f"{base_url}/{project.full_path}"
    yield "CI_PROJECT_VISIBILITY", project.visibility
    yield "CI_DEFAULT_BRANCH", project.default_branch
    yield "CI_DEFAULT_BRANCH_SLUG", slug(project.default_branch)
    yield "CI_CONFIG_PATH", project.ci_config_path or DEFAULT_CONFIG_PATH
    if project.container_registry_enabled:
        registry = registry_host(base_url)
        yield "CI_REGISTRY", registry
        yield "CI_REGISTRY_IMAGE", f"{registry}/{project.full_path.lower()}"


def commit_variables(
    commit: Commit, ref_name: str, *, is_tag: bool, in_merge_request: bool, before_sha: str, protected: bool
) -> Variables:
    """Yield variables of the commit of a pipeline; ``ref_name`` is the short name of its branch or tag."""
    message = commit.message[:MAX_MESSAGE_LENGTH]
    _, _, description = message.lstrip().partition("\n")
    yield "CI_COMMIT_SHA", commit.oid
    yield "CI_COMMIT_SHORT_SHA", commit.oid[:SHORT_SHA_LENGTH]
    yield "CI_COMMIT_BEFORE_SHA", before_sha
    yield "CI_COMMIT_REF_NAME", ref_name
    yield "CI_COMMIT_REF_SLUG", slug(ref_name)
    yield "CI_COMMIT_REF_PROTECTED", flag_text(protected)
    yield "CI_COMMIT_MESSAGE", message
    yield "CI_COMMIT_TITLE", commit.title[:MAX_MESSAGE_LENGTH]
    yield "CI_COMMIT_DESCRIPTION", description.strip()
    yield "CI_COMMIT_AUTHOR", f"{commit.author.name} <{commit.author.email}>"
    yield "CI_COMMIT_TIMESTAMP", commit.committer.zoned
    if is_tag:
        yield "CI_COMMIT_TAG", ref_name
    elif not in_merge_request:
        yield "CI_COMMIT_BRANCH", ref_name
    # Names before GitLab 9.0, which old files use.
    yield "CI_BUILD_REF", commit.oid
    yield "CI_BUILD_BEFORE_SHA", before_sha
    yield "CI_BUILD_REF_NAME", ref_name
    yield "CI_BUILD_REF_SLUG", slug(ref_name)
    if is_tag:
        yield "CI_BUILD_TAG", ref_name


def pipeline_variables(pipeline: Pipeline, project_url: str) -> Variables:
    """Yield variables of a pipeline that are not known before it exists."""
    yield "CI_PIPELINE_ID", str(pipeline.id)
    yield "CI_PIPELINE_IID", str(pipeline.iid)
    yield "CI_PIPELINE_URL", f"{project_url}/-/pipelines/{pipeline.id}"
    yield "CI_PIPELINE_CREATED_AT", _seconds(pipeline.created_at)
    if pipeline.name is not None:
        yield "CI_PIPELINE_NAME", pipeline.name


def job_name_variables(name: str, stage: str, node: tuple[int, int] | None, *, manual: bool) -> Variables:
    """Yield variables of a job that are known when it is planned."""
    yield "CI_JOB_NAME", name
    yield "CI_JOB_NAME_SLUG", slug(name)
    yield "CI_JOB_GROUP_NAME", name_of_copies(name) or name
    yield "CI_JOB_STAGE", stage
    yield "CI_BUILD_NAME", name
    yield "CI_BUILD_STAGE", stage
    yield "CI_NODE_TOTAL", str(node[1] if node else 1)
    if node:
        yield "CI_NODE_INDEX", str(node[0])
    if manual:
        yield "CI_JOB_MANUAL", "true"
        yield "CI_BUILD_MANUAL", "true"


def job_variables_of_row(job: CiJob, project_url: str, timeout: int) -> Variables:
    """Yield variables of a job that a runner has taken."""
    yield "CI_JOB_ID", str(job.id)
    yield "CI_JOB_URL", f"{project_url}/-/jobs/{job.id}"
    yield "CI_JOB_STARTED_AT", _seconds(job.started_at) if job.started_at else ""
    yield "CI_JOB_TIMEOUT", str(timeout)
    yield "CI_BUILD_ID", str(job.id)
    yield from job_name_variables(job.name, job.stage, options_of(job).node, manual=job.run_when == "manual")


def runner_variables(runner: Runner) -> Variables:
    """Yield variables of a runner."""
    yield "CI_RUNNER_ID", str(runner.id)
    yield "CI_RUNNER_DESCRIPTION", runner.description
    yield "CI_RUNNER_TAGS", runner.tags


def _seconds(stamp: str) -> str:
    return f"{to_datetime(stamp):%Y-%m-%dT%H:%M:%SZ}"  # type: ignore[arg-type] # Columns of times hold timestamps.
