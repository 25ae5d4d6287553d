"""Jobs that deploy sites and delete the files of old deployments."""

import io
from functools import partial
from typing import Any, NamedTuple

import msgspec

from ingot.accounts.instance.all_settings import all_settings
from ingot.ci.artifacts.jobs import SWEEP_AFTER_SECONDS
from ingot.ci.artifacts.queries import artifact_or_none
from ingot.ci.artifacts.store import ArtifactStore, ArtifactTooLarge
from ingot.ci.config.plan import SiteSpec
from ingot.ci.config.variables import ExpandedVariables
from ingot.ci.job_records.dependencies import inherited_variables
from ingot.ci.job_records.queries import job_by_id, manual_variables, options_of, reported_variables, variables_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.variables import context_variables, given_variables
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.core.settings import Settings
from ingot.projects.projects.queries import project_or_none
from ingot.sites.deployments.deploy_status import report_deployment
from ingot.sites.deployments.queries import deployment_of_job, existing_keys
from ingot.sites.deployments.service import NewDeployment, add_deployment, remove_ended_deployments, require_newest
from ingot.sites.deployments.site_options import SiteOptions, site_options
from ingot.sites.files.build import BuiltSite, SiteLimits, build_site

SWEEP_SITES = "sweep_sites"
REMOVE_OLD_DEPLOYMENTS = "remove_old_deployments"
MAX_FILES = 200_000
MAX_SITE_BYTES = 2**40
"""Largest site where the instance has no limit."""


def enqueue_site_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_SITES, None, unique_key=SWEEP_SITES)


def enqueue_deployment_removal(db: Connection) -> None:
    """Enqueue the removal of deployments that have ended."""
    enqueue(db, REMOVE_OLD_DEPLOYMENTS, None, unique_key=REMOVE_OLD_DEPLOYMENTS)


class _Source(NamedTuple):
    """Artifacts to publish."""

    job: CiJob
    artifact_key: str
    options: SiteOptions
    max_bytes: int


class SiteJobs:
    """Idempotent handlers of jobs about deployments."""

    def __init__(self, settings: Settings, artifacts: ArtifactStore, sites: ArtifactStore) -> None:
        self._settings = settings
        self._artifacts = artifacts
        self._sites = sites

    def deploy(self, database: Database, payload: Any) -> None:
        """Publish the artifacts of a job, unless it was done already."""
        job = database.read(partial(_job_to_deploy, job_id=msgspec.convert(payload, int)))
        if job is None or not self._settings.serves_sites:
            return
        database.write(partial(report_deployment, job=job, status="running"))
        try:
            self._deploy(database, job)
        except Invalid as error:
            database.write(partial(report_deployment, job=job, status="failed", description=error.message))

    def _deploy(self, database: Database, job: CiJob) -> None:
        source = database.read(partial(_source_of, job=job))
        incoming = self._sites.receive(source.max_bytes + 2**30)
        try:
            try:
                with self._artifacts.open(source.artifact_key) as archive:
                    limits = SiteLimits(source.max_bytes, MAX_FILES)
                    size = archive.seek(0, io.SEEK_END)
                    built = build_site(archive, size, source.options.root_directory, incoming, limits)
            except FileNotFoundError:
                raise Invalid("The artifacts of the job were deleted") from None
            except ArtifactTooLarge:
                raise Invalid("The site is too large") from None
            incoming.publish()
        finally:
            incoming.close()
        try:
            database.write(partial(_record, source=source, key=incoming.key, built=built))
        except Invalid:
            self._sites.delete(incoming.key)
            raise

    def delete_files(self, _database: Database, keys: list[str]) -> None:
        """Delete files whose rows were deleted."""
        for key in keys:
            self._sites.delete(key)

    def remove_old(self, database: Database, _payload: Any) -> None:
        """Remove deployments that ended a day ago."""
        while database.write(remove_ended_deployments):
            pass

    def sweep(self, database: Database, _payload: Any) -> None:
        """Delete files of deleted projects and remains of crashes."""
        for keys in self._sites.batches(SWEEP_AFTER_SECONDS):
            recorded = database.read(partial(existing_keys, keys=keys))
            for key in keys:
                if key not in recorded:
                    self._sites.delete(key)
        self._sites.delete_partial_files(SWEEP_AFTER_SECONDS)


def _job_to_deploy(db: Connection, job_id: int) -> CiJob | None:
    job = job_by_id(db, job_id)
    if job is None or options_of(job).site is None or deployment_of_job(db, job_id) is not None:
        return None
    project = project_or_none(db, job.project_id)
    return None if project is None or project.options.pages_access_level == "disabled" else job


def _source_of(db: Connection, job: CiJob) -> _Source:
    settings = all_settings(db)
    variables = _variables(db, job)
    options = site_options(
        options_of(job).site or SiteSpec(), variables, settings.pages_extra_deployments_default_expiry_seconds
    )
    require_newest(db, job.project_id, job.pipeline_id, options.path_prefix)
    artifact = artifact_or_none(db, job.id)
    if artifact is None:
        raise Invalid("The job has no artifacts; its site must be in the artifacts")
    if artifact.file_format != "zip":
        raise Invalid("The artifacts of the job are not a ZIP archive")
    max_bytes = 2**20 * settings.max_pages_size or MAX_SITE_BYTES
    return _Source(job, artifact.storage_key, options, max_bytes)


def _variables(db: Connection, job: CiJob) -> ExpandedVariables:
    """Return the variables that options of sites may contain."""
    values = {
        "CI_JOB_ID": str(job.id),
        "CI_JOB_NAME": job.name,
        "CI_PIPELINE_ID": str(job.pipeline_id),
        **context_variables(db, job.pipeline_id),
        **{each.key: each.value for each in variables_of(job)},
        **dict(inherited_variables(db, job)),
        **dict(reported_variables(db, job.id)),
        **{each.key: each.value for each in given_variables(db, job.pipeline_id)},
        **dict(manual_variables(db, job.id)),
    }
    return ExpandedVariables(values)


def _record(db: Connection, source: _Source, key: str, built: BuiltSite) -> None:
    job, options = source.job, source.options
    add_deployment(
        db,
        NewDeployment(
            job.project_id,
            job.id,
            job.pipeline_id,
            options.path_prefix,
            options.root_directory,
            key,
            built.size,
            built.index_offset,
            built.file_count,
            options.expire_in,
        ),
    )
    report_deployment(db, job, "success")
