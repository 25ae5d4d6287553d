"""Validated configuration and the plan of a pipeline, as immutable structs."""

from typing import Any, Literal

import msgspec

EnvironmentTier = Literal["production", "staging", "testing", "development", "other"]
When = Literal["on_success", "on_failure", "always", "manual", "delayed", "never"]


class ConfigVariable(msgspec.Struct, frozen=True):
    """A variable of the file; ``raw`` values are not expanded."""

    value: str
    raw: bool = False
    description: str | None = None
    options: tuple[str, ...] = ()


class Need(msgspec.Struct, frozen=True):
    """A job that must end before another one starts."""

    job: str
    artifacts: bool = True
    optional: bool = False


class AncestorNeed(msgspec.Struct, frozen=True):
    """A job of a parent pipeline whose artifacts a job gets; both names may contain variables."""

    pipeline: str
    job: str


class ProjectNeed(msgspec.Struct, frozen=True):
    """A job of another project or ref whose artifacts a job gets; the names may contain variables."""

    project: str
    job: str
    ref: str


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of ``rules``; conditions that are None always hold."""

    condition: str | None = None
    changes: tuple[str, ...] | None = None
    compare_to: str | None = None
    exists: tuple[str, ...] | None = None
    exists_project: str | None = None
    """Project whose files ``exists`` looks at; None for that of the pipeline."""
    exists_ref: str | None = None
    when: When | None = None
    start_in: int | None = None
    allow_failure: bool | None = None
    variables: dict[str, ConfigVariable] = {}
    needs: tuple[Need, ...] | None = None
    interruptible: bool | None = None
    on_new_commit: str | None = None
    on_job_failure: str | None = None


class RefPolicy(msgspec.Struct, frozen=True):
    """Conditions of ``only`` or ``except``; those that are None are not checked."""

    refs: tuple[str, ...] | None = None
    variables: tuple[str, ...] | None = None
    changes: tuple[str, ...] | None = None
    kubernetes: bool = False
    """Only with a connected cluster, which this server does not have."""


class JobEnvironment(msgspec.Struct, frozen=True):
    """Environment that a job deploys to or stops; the names may contain variables."""

    name: str
    url: str | None = None
    action: str = "start"
    on_stop: str | None = None
    auto_stop_in: str | None = None
    tier: EnvironmentTier | None = None


class Retry(msgspec.Struct, frozen=True):
    """Automatic retries of a job."""

    limit: int = 0
    when: tuple[str, ...] = ("always",)
    """Reasons of failures; empty if only exit codes decide."""
    exit_codes: tuple[int, ...] = ()


class TriggerSpec(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Pipeline that a job starts: one of another project, or a child pipeline whose files are given."""

    project: str | None = None
    branch: str | None = None
    include: tuple[Any, ...] = ()
    """Entries of ``include``; empty for a pipeline of another project."""
    inputs: dict[str, Any] = {}
    depend: bool = False
    """Whether the job waits for the end of the pipeline and ends like it."""
    yaml_variables: bool = True
    """Whether the pipeline gets the variables of the job."""
    pipeline_variables: bool = False
    """Whether the pipeline gets the variables that were given to the pipeline of the job."""


def is_site_folder(path: str) -> bool:
    """Return whether a path can be that of a folder in artifacts, as seen before variables have values."""
    return not path.startswith("/") and ".." not in path.split("/")


class SiteSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """Static site that a job publishes (``pages``); the texts may contain variables."""

    publish: str = "public"
    """Folder of the artifact archive."""
    path_prefix: str = ""
    expire_in: str | None = None


class JobSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A job of the file."""

    name: str
    stage: str
    before_script: tuple[str, ...] = ()
    script: tuple[str, ...] = ()
    after_script: tuple[str, ...] = ()
    image: dict[str, Any] | None = None
    services: tuple[dict[str, Any], ...] = ()
    variables: dict[str, ConfigVariable] = {}
    tags: tuple[str, ...] = ()
    when: When = "on_success"
    start_in: int | None = None
    allow_failure: bool | None = None
    """None if the file does not say; manual jobs outside of ``rules`` may then fail."""
    allow_failure_exit_codes: tuple[int, ...] = ()
    rules: tuple[Rule, ...] | None = None
    only: RefPolicy | None = None
    excluded: RefPolicy | None = None
    environment: JobEnvironment | None = None
    artifacts: dict[str, Any] = {}
    cache: tuple[dict[str, Any], ...] = ()
    dependencies: tuple[str, ...] | None = None
    needs: tuple[Need, ...] | None = None
    coverage: str | None = None
    retry: Retry = Retry()
    timeout: int | None = None
    interruptible: bool = False
    resource_group: str | None = None
    trigger: TriggerSpec | None = None
    ancestor_needs: tuple[AncestorNeed, ...] = ()
    project_needs: tuple[ProjectNeed, ...] = ()
    upstream: str | None = None
    """Project whose latest pipeline gives the job its status."""
    id_tokens: dict[str, str | tuple[str, ...]] = {}
    secrets: dict[str, dict[str, Any]] = {}
    release: dict[str, Any] | None = None
    site: SiteSpec | None = None
    node: tuple[int, int] | None = None
    """Index and number of the copies made by ``parallel``."""
    base_name: str
    """Name in the file, without the suffix of ``parallel``."""
    own_variables: frozenset[str] = frozenset()
    """Names of variables that the job defines itself."""
    inherited_variables: frozenset[str] | None = None
    """Names of top-level variables that the job inherits; None for all."""

    def inherits_variable(self, name: str) -> bool:
        """Return whether a variable of the workflow applies to the job."""
        allowed = self.inherited_variables is None or name in self.inherited_variables
        return allowed and name not in self.own_variables


class WorkflowSpec(msgspec.Struct, frozen=True):
    """Top-level ``workflow``."""

    rules: tuple[Rule, ...] | None = None
    name: str | None = None
    on_new_commit: str | None = None
    on_job_failure: str | None = None


class PipelineConfig(msgspec.Struct, frozen=True):
    """A validated file; it does not depend on a ref."""

    stages: tuple[str, ...]
    jobs: tuple[JobSpec, ...]
    variables: dict[str, ConfigVariable] = {}
    workflow: WorkflowSpec = WorkflowSpec()
    warnings: tuple[str, ...] = ()
    merged: dict[str, Any] = {}
    """The file with its includes, without ``include``."""
    catalog_components: tuple[int, ...] = ()
    """Ids of the published components that it includes."""


class PlannedJob(msgspec.Struct, frozen=True):
    """A job that a pipeline contains, with the results of its rules."""

    spec: JobSpec
    when: When
    allow_failure: bool
    start_in: int | None
    variables: dict[str, ConfigVariable]
    needs: tuple[Need, ...] | None
    interruptible: bool


FIRST_STAGE, LAST_STAGE = ".pre", ".post"


class PipelinePlan(msgspec.Struct, frozen=True):
    """Jobs and variables of a new pipeline."""

    stages: tuple[str, ...]
    jobs: tuple[PlannedJob, ...]
    variables: dict[str, ConfigVariable]
    name: str | None = None
    on_new_commit: str | None = None
    on_job_failure: str | None = None

    @property
    def has_main_jobs(self) -> bool:
        """Return whether the pipeline has jobs other than those of the first and last stage, which run around them."""
        return any(job.spec.stage not in (FIRST_STAGE, LAST_STAGE) for job in self.jobs)
