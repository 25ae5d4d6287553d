"""Ports of ``repositories``."""

from typing import TYPE_CHECKING

from ingot.core.db.ports import PortFillers
from ingot.core.settings import Settings

if TYPE_CHECKING:
    from ingot.repositories.commits.ports import CommitMergeRequests
    from ingot.repositories.ref_changes.ports import MergeRequestHeads, PipelineConfigurations, PushOptionHandler

ports = PortFillers()


@ports.fill
def pipeline_configurations(_: Settings) -> "PipelineConfigurations":
    from ingot.ci.pipelines.jobs import configured_refs
    from ingot.repositories.ref_changes.ports import PipelineConfigurations

    return PipelineConfigurations(configured_refs)


@ports.fill
def push_option_handler(settings: Settings) -> "PushOptionHandler":
    from ingot.collaboration.merge_requests.push_options import MergeRequestPushOptions
    from ingot.projects.projects.api import repository_store
    from ingot.repositories.ref_changes.ports import PushOptionHandler

    return PushOptionHandler(MergeRequestPushOptions(repository_store(settings)).apply)


@ports.fill
def merge_request_heads(_: Settings) -> "MergeRequestHeads":
    from ingot.collaboration.merge_requests.merge import queries
    from ingot.repositories.ref_changes.ports import MergeRequestHeads

    return MergeRequestHeads(queries.merge_request_heads)


@ports.fill
def commit_merge_requests(settings: Settings) -> "CommitMergeRequests":
    from ingot.collaboration.merge_requests.editing.relations import RelatedMergeRequests
    from ingot.projects.projects.api import repository_store
    from ingot.repositories.commits.ports import CommitMergeRequests

    return CommitMergeRequests(RelatedMergeRequests(repository_store(settings)).list_introducing)
