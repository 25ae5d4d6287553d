"""Ports of ``ci``."""

from typing import TYPE_CHECKING

from ingot.accounts.instance.outgoing_rules import instance_guard
from ingot.core.db.ports import PortFillers
from ingot.core.settings import Settings

if TYPE_CHECKING:
    from ingot.ci.job_records.ports import JobArtifacts
    from ingot.ci.pipelines.ports import CiEnvironment, SiteVariables

ports = PortFillers()


@ports.fill
def ci_environment(settings: Settings) -> "CiEnvironment":
    from ingot.ci.pipelines.ports import CiEnvironment

    return CiEnvironment(
        base_url=settings.base_url,
        version=settings.reported_version,
        guard=instance_guard(settings),
        data=settings.data,
        max_needs=settings.ci_needs_size_limit,
    )


@ports.fill
def job_artifacts(_: Settings) -> "JobArtifacts":
    from ingot.ci.artifacts.queries import artifact_summaries
    from ingot.ci.job_records.ports import JobArtifacts
    from ingot.ci.jobs.service import delete_job_files

    return JobArtifacts(artifact_summaries, delete_job_files)


@ports.fill
def site_variables(settings: Settings) -> "SiteVariables":
    from functools import partial

    from ingot.ci.pipelines.ports import SiteVariables

    if not settings.serves_sites:
        return SiteVariables(lambda *_: [])
    from ingot.sites.project_pages.variables import list_site_variables

    return SiteVariables(partial(list_site_variables, settings))
