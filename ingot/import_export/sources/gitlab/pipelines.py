"""Jobs, external statuses and pipeline schedules of a GitLab project as records."""

from collections.abc import Iterator, Sequence

from ingot.import_export.records import ScheduleRecord, StatusRecord
from ingot.import_export.source import Batch
from ingot.import_export.sources.client import SourceClient, StatusError
from ingot.import_export.sources.gitlab.access import variable_records
from ingot.import_export.sources.gitlab.shapes import GitLabJob, GitLabPipeline, GitLabSchedule, GitLabStatus
from ingot.import_export.sources.gitlab.users import GitLabUsers

_PAGE = {"per_page": 100}
_EXTERNAL = "external:"


def status_batches(
    client: SourceClient, users: GitLabUsers, path: str, cursor: str | None, since: str | None
) -> Iterator[Batch]:
    """Yield the jobs of all pipelines, then the external statuses.

    With ``since`` only pipelines that were changed after it are considered, each with a request for its jobs.
    """
    if since is not None:
        yield from _changed(client, users, path, since)
        return
    target: str | None = cursor or client.target(f"{path}/jobs", _PAGE)
    while target is not None and not target.startswith(_EXTERNAL):
        try:
            jobs, target = client.page(target, GitLabJob)
        except StatusError as error:
            if not error.denied:
                raise
            return  # CI is disabled, or the token may not see it.
        yield Batch(_job_records(users, jobs), target or _EXTERNAL)
    for pipelines in client.pages(f"{path}/pipelines", GitLabPipeline, {**_PAGE, "source": "external"}):
        yield Batch(_external_records(client, users, path, pipelines), _EXTERNAL)


def schedule_records(client: SourceClient, users: GitLabUsers, path: str) -> list[ScheduleRecord]:
    """Build the records of schedules, with a request for the variables of each."""
    records = []
    for listed in client.entries(f"{path}/pipeline_schedules", GitLabSchedule, _PAGE):
        schedule = client.get_or_none(f"{path}/pipeline_schedules/{listed.id}", GitLabSchedule) or listed
        records.append(
            ScheduleRecord(
                key=str(schedule.id),
                description=schedule.description,
                ref=schedule.ref.removeprefix("refs/heads/"),
                cron=schedule.cron,
                cron_timezone=schedule.cron_timezone,
                owner=users.record_or_none(schedule.owner),
                variables=variable_records(schedule.variables),
                inputs={each.name: each.value for each in schedule.inputs},
                created_at=schedule.created_at,
                updated_at=schedule.updated_at,
            )
        )
    return records


def _changed(client: SourceClient, users: GitLabUsers, path: str, since: str) -> Iterator[Batch]:
    try:
        for pipelines in client.pages(f"{path}/pipelines", GitLabPipeline, {**_PAGE, "updated_after": since}):
            internal = [each for each in pipelines if each.source != "external"]
            targets = [client.target(f"{path}/pipelines/{each.id}/jobs", _PAGE) for each in internal]
            jobs = [job for found in client.lists(targets, GitLabJob) for job in found]
            external = [each for each in pipelines if each.source == "external"]
            yield Batch([*_job_records(users, jobs), *_external_records(client, users, path, external)], "")
    except StatusError as error:
        if not error.denied:
            raise


def _job_records(users: GitLabUsers, jobs: Sequence[GitLabJob]) -> list[StatusRecord]:
    return [
        StatusRecord(
            key=f"job:{job.id}",
            sha=job.commit.id,
            ref=job.ref,
            name=job.name,
            state=job.status,
            author=users.record_or_none(job.user),
            target_url=job.web_url,
            coverage=job.coverage,
            pipeline=str(job.pipeline.id) if job.pipeline else None,
            stage=job.stage,
            allow_failure=job.allow_failure,
            created_at=job.created_at,
            started_at=job.started_at,
            finished_at=job.finished_at,
        )
        for job in jobs
        if job.commit is not None
    ]


def _external_records(
    client: SourceClient, users: GitLabUsers, path: str, pipelines: Sequence[GitLabPipeline]
) -> list[StatusRecord]:
    commits = list(dict.fromkeys(pipeline.sha for pipeline in pipelines if pipeline.sha))
    targets = [client.target(f"{path}/repository/commits/{sha}/statuses", {**_PAGE, "all": "true"}) for sha in commits]
    pipeline_of = {pipeline.sha: str(pipeline.id) for pipeline in pipelines}
    return [
        StatusRecord(
            key=f"status:{status.id}",
            sha=status.sha,
            ref=status.ref,
            name=status.name,
            state=status.status,
            author=users.record_or_none(status.author),
            target_url=status.target_url,
            description=status.description,
            coverage=status.coverage,
            pipeline=pipeline_of.get(status.sha),
            allow_failure=status.allow_failure,
            created_at=status.created_at,
            started_at=status.started_at,
            finished_at=status.finished_at,
        )
        for found in client.lists(targets, GitLabStatus)
        for status in found
        # The list contains the jobs of other pipelines of the commit, too; they have no external URL.
        if status.target_url is None or "/-/jobs/" not in status.target_url
    ]
