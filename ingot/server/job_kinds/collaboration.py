"""Jobs of ``collaboration``, and the mail that follows from it (``notifications``)."""

from ingot.core.jobs.handlers import JobHandler
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import JobTable

table = JobTable()


@table.kind
def notify(context: JobContext) -> JobHandler:
    from ingot.notifications.jobs import NotificationJob

    return NotificationJob(context.settings, context.store).notify


@table.kind
def notify_of_pipeline(context: JobContext) -> JobHandler:
    from ingot.notifications.pipelines import PipelineMailJob

    return PipelineMailJob(context.settings).run


@table.kind
def notify_of_commit(context: JobContext) -> JobHandler:
    from ingot.notifications.commits import CommitMailJob

    return CommitMailJob(context.settings, context.store).run


@table.kind
def complete_diff_versions(context: JobContext) -> JobHandler:
    from ingot.collaboration.merge_requests.versions.source_tracker import HeadTracker

    return HeadTracker(context.store).collect


@table.kind
def auto_merge(context: JobContext) -> JobHandler:
    from ingot.collaboration.merge_requests.merge.perform import run_auto_merge

    return lambda database, merge_request_id: run_auto_merge(database, context.store, merge_request_id)


@table.kind
def restack_merge_request(context: JobContext) -> JobHandler:
    from ingot.collaboration.merge_requests.merge.restack import run_restack

    return lambda database, number: run_restack(database, context.store, number)


@table.kind
def remove_source_branch(context: JobContext) -> JobHandler:
    from ingot.collaboration.merge_requests.merge.source_removal import remove_leftover_branch

    return lambda database, merge_request_id: remove_leftover_branch(database, context.store, merge_request_id)


@table.kind
def apply_push_options(context: JobContext) -> JobHandler:
    from ingot.collaboration.merge_requests.push_options import MergeRequestPushOptions

    return MergeRequestPushOptions(context.store).run


@table.kind
def process_commit_messages(context: JobContext) -> JobHandler:
    from ingot.collaboration.issues.discussions.jobs import CommitMessageJob

    return CommitMessageJob(context.store, context.settings.base_url).read


@table.kind
def record_deployed_merge_requests(context: JobContext) -> JobHandler:
    from ingot.collaboration.merge_requests.deployments.jobs import DeploymentRecorder

    return DeploymentRecorder(context.store).run
