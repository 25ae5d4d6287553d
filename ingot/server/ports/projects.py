"""Ports of ``projects``."""

from typing import TYPE_CHECKING

from ingot.core.db.ports import PortFillers
from ingot.core.settings import Settings

if TYPE_CHECKING:
    from ingot.projects.environments.ports import DeploymentJobs
    from ingot.projects.groups.ports import GroupProjects, GroupRunners
    from ingot.projects.projects.ports import (
        BranchDeletions,
        CiSettingsReader,
        JobTokenScopes,
        ReferenceLinks,
        StorageMoves,
    )

ports = PortFillers()


@ports.fill
def ci_settings_reader(_: Settings) -> "CiSettingsReader":
    from ingot.ci.pipelines.project_settings import project_ci_settings
    from ingot.projects.projects.ports import CiSettingsReader

    return CiSettingsReader(project_ci_settings)


@ports.fill
def job_token_scopes(_: Settings) -> "JobTokenScopes":
    from ingot.ci.job_tokens.queries import allows_job_token
    from ingot.projects.projects.ports import JobTokenScopes

    return JobTokenScopes(allows_job_token)


@ports.fill
def reference_links(_: Settings) -> "ReferenceLinks":
    from ingot.collaboration.markdown.references import find_links
    from ingot.projects.projects.ports import ReferenceLinks

    return ReferenceLinks(find_links)


@ports.fill
def branch_deletions(_: Settings) -> "BranchDeletions":
    from ingot.projects.projects.ports import BranchDeletions
    from ingot.repositories.ref_changes.queries import is_deletion_pending

    return BranchDeletions(is_deletion_pending)


@ports.fill
def storage_moves(_: Settings) -> "StorageMoves":
    from ingot.projects.projects.ports import StorageMoves
    from ingot.repositories.storage_moves.service import move_to_storage

    return StorageMoves(move_to_storage)


@ports.fill
def deployment_jobs(settings: Settings) -> "DeploymentJobs":
    from ingot.ci.job_records.deployment_jobs import DeploymentJobViews
    from ingot.projects.environments.ports import DeploymentJobs
    from ingot.projects.projects.api import repository_store

    return DeploymentJobs(DeploymentJobViews(repository_store(settings), settings.base_url).views)


@ports.fill
def group_runners(_: Settings) -> "GroupRunners":
    from ingot.ci.runners.registration import shown_group_token
    from ingot.projects.groups.ports import GroupRunners

    return GroupRunners(shown_group_token)


@ports.fill
def group_projects(_: Settings) -> "GroupProjects":
    from ingot.projects.group_projects.queries import has_more_visible_project, storage_sizes
    from ingot.projects.groups.ports import GroupProjects

    return GroupProjects(storage_sizes, has_more_visible_project)
