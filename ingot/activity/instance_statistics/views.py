"""Response structs of counts."""

from ingot.core.api.views import View


class InstanceCountsView(View):
    """Number of records of each kind; texts, as clients expect them."""

    forks: str
    issues: str
    merge_requests: str
    notes: str
    snippets: str
    ssh_keys: str
    milestones: str
    users: str
    groups: str
    projects: str
    active_users: str


class AssociationsCountView(View):
    """Number of groups and projects of a user, and of issues and merge requests that the user has created."""

    groups_count: int
    projects_count: int
    issues_count: int
    merge_requests_count: int


class UserCountsView(View):
    """Open work of the caller."""

    merge_requests: int
    assigned_issues: int
    assigned_merge_requests: int
    review_requested_merge_requests: int
    todos: int


class QueueBacklogView(View):
    """Waiting jobs of one kind, and the seconds that the oldest is overdue."""

    backlog: int
    latency: int


class JobProcessView(View):
    """Processes that run jobs, as one entry."""

    hostname: str
    pid: int
    tag: str
    queues: list[str]
    labels: list[str]
    concurrency: int
    busy: int


class JobTotalsView(View):
    """Finished jobs, failed attempts and jobs that are not finished."""

    processed: int
    failed: int
    enqueued: int


class QueueMetricsView(View):
    """Waiting jobs by kind."""

    queues: dict[str, QueueBacklogView]


class ProcessMetricsView(View):
    """Processes that run jobs."""

    processes: list[JobProcessView]


class JobStatsView(View):
    """Totals of the queue."""

    jobs: JobTotalsView


class CompoundMetricsView(View):
    """All metrics of the queue."""

    queues: dict[str, QueueBacklogView]
    processes: list[JobProcessView]
    jobs: JobTotalsView
