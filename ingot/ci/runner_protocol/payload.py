"""A job as a runner gets it."""

from typing import Any, Literal, get_args

from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, func, select

from ingot.ci.artifacts.needed_jobs import jobs_of_other_pipelines
from ingot.ci.artifacts.tables import ArtifactFormat, ArtifactType, JobArtifact
from ingot.ci.catalog.queries import resource_or_none
from ingot.ci.job_records.dependencies import dependencies_of, dotenv_variables
from ingot.ci.job_records.queries import options_of
from ingot.ci.job_records.tables import TOKEN_USERNAME, CiJob, FailureReason, JobOptions, ci_running
from ingot.ci.pipelines.predefined_variables import registry_host
from ingot.ci.pipelines.processing import TOKEN_PREFIX, effective_timeout
from ingot.ci.pipelines.queries import settings_of
from ingot.ci.pipelines.variables import RunnerVariable, clone_url, job_variables
from ingot.ci.runner_protocol.dependencies import archives_of
from ingot.ci.runner_protocol.release_step import release_command
from ingot.ci.runner_protocol.secrets import runner_secrets
from ingot.ci.runner_protocol.selection import TakenJob
from ingot.ci.runners.service import CREATED_PREFIX
from ingot.ci.runners.tables import Runner
from ingot.core.api.params import number_or_none
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.tables import Project

ZERO_SHA = "0" * 40
MAX_DEPTH = 1_000_000
_REPORTS: dict[str, tuple[ArtifactType, ArtifactFormat, str]] = {
    "junit": ("junit", "gzip", "junit.xml"),
    "dotenv": ("dotenv", "gzip", ".env"),
    "cobertura": ("cobertura", "gzip", "cobertura-coverage.xml"),
}
_TOKEN_PREFIXES = (CREATED_PREFIX, TOKEN_PREFIX, "glpat-")
_RUNNING_ON_SHARED = select(func.count()).where(
    ci_running.c.project_id == bindparam("project"), ci_running.c.shared_runner
)


class JobInfo(View):
    """Names and ids of a job and its project."""

    id: int
    name: str
    stage: str
    project_id: int
    project_name: str
    project_full_path: str
    pipeline_id: int
    namespace_id: int | None
    user_id: int | None
    time_in_queue_seconds: int
    project_jobs_running_on_instance_runners_count: str


class GitInfo(View):
    """Commit of a job and how to fetch it."""

    repo_url: str
    ref: str
    sha: str
    before_sha: str
    ref_type: Literal["branch", "tag"]
    refspecs: list[str]
    depth: int
    repo_object_format: str
    protected: bool


class JobLimits(View):
    """Limits of the execution of a job."""

    timeout: int
    runner_session_url: str | None = None


class JobStep(View):
    """Commands of a job that are executed in one shell."""

    name: str
    script: list[str]
    timeout: int
    when: str
    allow_failure: bool


class JobImage(View):
    """Image of a container."""

    name: str
    entrypoint: list[str] | None
    ports: list[Any]
    executor_opts: dict[str, Any]
    pull_policy: list[str] | None


class JobService(JobImage):
    """Service that runs beside a job."""

    alias: str | None
    command: list[str] | None
    variables: list[dict[str, str]]


class JobArtifactRequest(View):
    """Files that a runner uploads after the script."""

    name: str | None
    untracked: bool
    paths: list[str]
    when: str | None
    expire_in: str | None
    artifact_type: ArtifactType
    artifact_format: ArtifactFormat
    exclude: list[str] | UnsetType = UNSET


class JobCache(View):
    """Files that a runner stores for later jobs."""

    key: str
    untracked: bool
    paths: list[str]
    policy: str
    when: str
    fallback_keys: list[str]


class DependencyFile(View):
    """Archive of another job."""

    filename: str
    size: int


class JobDependency(View):
    """Job whose artifacts a runner downloads before the script."""

    id: int
    name: str
    token: str
    artifacts_file: DependencyFile


class JobFeatures(View):
    """Features of the server."""

    trace_sections: bool
    token_mask_prefixes: list[str]
    failure_reasons: list[str]


class JobPayload(View):
    """A job as a runner gets it."""

    id: int
    token: str
    allow_git_fetch: bool
    job_info: JobInfo
    git_info: GitInfo
    runner_info: JobLimits
    variables: list[RunnerVariable]
    steps: list[JobStep]
    image: JobImage | None
    services: list[JobService]
    artifacts: list[JobArtifactRequest]
    cache: list[JobCache]
    credentials: list[dict[str, str]]
    dependencies: list[JobDependency]
    secrets: dict[str, dict[str, Any]]
    features: JobFeatures


def job_payload(
    db: Connection,
    taken: TakenJob,
    runner: Runner,
    project: Project,
    pipeline: Pipeline,
    base: str,
    *,
    has_ref: bool,
) -> JobPayload:
    """Return the job that a runner has taken; ``has_ref`` tells whether the branch or tag still exists."""
    job, token = taken
    options = options_of(job)
    settings = settings_of(db, project.id)
    dependencies = dependencies_of(db, job)
    dotenv = dotenv_variables(db, [other.id for other in dependencies])
    dependencies += [other for other in jobs_of_other_pipelines(db, job) if other is not None]
    variables = job_variables(db, project, pipeline, job, runner, base, token, dotenv)
    depth = _depth(variables, settings.default_git_depth)
    timeout = effective_timeout(db, job, runner)
    archives = archives_of(db, dependencies)
    publish = options.release is not None and resource_or_none(db, project.id) is not None
    return JobPayload(
        id=job.id,
        token=token,
        allow_git_fetch=settings.build_git_strategy == "fetch",
        job_info=_job_info(db, job, runner, project),
        git_info=_git_info(pipeline, clone_url(db, project, base, token), depth, has_ref=has_ref),
        runner_info=JobLimits(timeout),
        variables=variables,
        steps=_steps(options, timeout, runner.platform, publish=publish),
        image=None if options.image is None else JobImage(*_image(options.image)),
        services=[_service(service) for service in options.services],
        artifacts=_artifact_requests(options.artifacts),
        cache=[_cache(cache, pipeline, project) for cache in options.cache if cache],
        credentials=_registry_credentials(project, token, base),
        dependencies=[_dependency(other, token, archives[other.id]) for other in dependencies if other.id in archives],
        secrets=runner_secrets(options, {each.key: each.value for each in variables}),
        features=JobFeatures(
            trace_sections=True,
            token_mask_prefixes=list(_TOKEN_PREFIXES),
            failure_reasons=list(get_args(FailureReason)),
        ),
    )


def _registry_credentials(project: Project, token: str, base: str) -> list[dict[str, str]]:
    """Return the credentials with which a runner fetches images of this instance."""
    if not project.container_registry_enabled:
        return []
    return [{"type": "registry", "url": registry_host(base), "username": TOKEN_USERNAME, "password": token}]


def _job_info(db: Connection, job: CiJob, runner: Runner, project: Project) -> JobInfo:
    queued = to_datetime(job.queued_at or job.created_at)
    # Runners report the number as a metric; "+Inf" stands for runners to which it does not apply.
    busy = "+Inf"
    if runner.runner_type == "instance_type":
        busy = str(db.value(_RUNNING_ON_SHARED, project=project.id))
    return JobInfo(
        job.id,
        job.name,
        job.stage,
        project.id,
        project.path,
        project.full_path,
        job.pipeline_id,
        project.namespace_id,
        job.user_id,
        max(0, int((to_datetime(db.now) - queued).total_seconds())),
        busy,
    )


def _git_info(pipeline: Pipeline, url: str, depth: int, *, has_ref: bool) -> GitInfo:
    return GitInfo(
        url,
        pipeline.ref,
        pipeline.sha,
        pipeline.before_sha or ZERO_SHA,
        "tag" if pipeline.tag else "branch",
        _refspecs(pipeline, depth, has_ref=has_ref),
        depth,
        "sha1",
        pipeline.protected,
    )


def _refspecs(pipeline: Pipeline, depth: int, *, has_ref: bool) -> list[str]:
    """Return the refs to fetch: the pipeline's own ref, which outlives the branch, and the branch or tag."""
    refspecs = [f"+refs/pipelines/{pipeline.id}:refs/pipelines/{pipeline.id}"]
    if depth == 0:
        return [*refspecs, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"]
    if has_ref and pipeline.tag:
        refspecs.append(f"+refs/tags/{pipeline.ref}:refs/tags/{pipeline.ref}")
    elif has_ref and not pipeline.ref.startswith("refs/"):
        refspecs.append(f"+refs/heads/{pipeline.ref}:refs/remotes/origin/{pipeline.ref}")
    return refspecs


def _depth(variables: list[RunnerVariable], default: int) -> int:
    values = [variable.value.strip() for variable in variables if variable.key == "GIT_DEPTH"]
    depth = number_or_none(values[-1]) if values else None
    return default if depth is None else min(depth, MAX_DEPTH)


def _steps(options: JobOptions, timeout: int, platform: str | None, *, publish: bool) -> list[JobStep]:
    steps = [JobStep("script", list(options.script), timeout, "on_success", False)]
    if options.release is not None:
        command = release_command(options.release, platform, publish=publish)
        steps.append(JobStep("release", [command], timeout, "on_success", False))
    if options.after_script:
        steps.append(JobStep("after_script", list(options.after_script), timeout, "always", True))
    return steps


def _texts(value: Any) -> list[str]:
    """Return a text or list of the configuration as a list of texts."""
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]


def _image(image: dict[str, Any]) -> tuple[str, list[str] | None, list[Any], dict[str, Any], list[str] | None]:
    options = {name: image[name] for name in ("docker", "kubernetes") if isinstance(image.get(name), dict)}
    return (
        str(image.get("name", "")),
        _texts(image.get("entrypoint")) or None,
        [],
        options,
        _texts(image.get("pull_policy")) or None,
    )


def _service(service: dict[str, Any]) -> JobService:
    variables = service.get("variables")
    pairs = variables.items() if isinstance(variables, dict) else ()
    return JobService(
        *_image(service),
        service.get("alias"),
        _texts(service.get("command")) or None,
        [{"key": str(key), "value": str(value)} for key, value in pairs],
    )


def _artifact_requests(artifacts: dict[str, Any]) -> list[JobArtifactRequest]:
    """Return one entry for the archive and one for each report that the server understands."""
    expire_in = artifacts.get("expire_in")
    expiry = None if expire_in is None else str(expire_in)
    requests = []
    if artifacts.get("paths") or artifacts.get("untracked"):
        requests.append(
            JobArtifactRequest(
                artifacts.get("name"),
                bool(artifacts.get("untracked")),
                _texts(artifacts.get("paths")),
                artifacts.get("when"),
                expiry,
                "archive",
                "zip",
                _texts(artifacts.get("exclude")) or UNSET,
            )
        )
    for kind, paths in _report_paths(artifacts.get("reports") or {}).items():
        artifact_type, artifact_format, name = _REPORTS[kind]
        requests.append(JobArtifactRequest(name, False, paths, "always", expiry, artifact_type, artifact_format))
    return requests


def _report_paths(reports: dict[str, Any]) -> dict[str, list[str]]:
    paths = {kind: _texts(value) for kind, value in reports.items() if kind in _REPORTS}
    coverage = reports.get("coverage_report")
    if isinstance(coverage, dict) and coverage.get("coverage_format") in _REPORTS:
        paths[coverage["coverage_format"]] = _texts(coverage.get("path"))
    return {kind: each for kind, each in paths.items() if each}


def _cache(cache: dict[str, Any], pipeline: Pipeline, project: Project) -> JobCache:
    # Jobs of other refs must not be able to change files that jobs of protected refs execute.
    separate = project.ci_options.ci_separated_caches and not cache.get("unprotect")
    suffix = "protected" if pipeline.protected and separate else "non_protected"
    key = cache.get("key")
    return JobCache(
        f"{key if isinstance(key, str) and key else 'default'}-{suffix}",
        bool(cache.get("untracked")),
        _texts(cache.get("paths")),
        str(cache.get("policy") or "pull-push"),
        str(cache.get("when") or "on_success"),
        [f"{each}-{suffix}" for each in _texts(cache.get("fallback_keys"))],
    )


def _dependency(job: CiJob, token: str, archive: JobArtifact) -> JobDependency:
    return JobDependency(job.id, job.name, token, DependencyFile(archive.filename, archive.size))
