"""Wiring of the packages: the order of all subscriptions, and the implementations of all ports."""

from concurrent.futures import Executor

from ingot.accounts.instance.outgoing_rules import instance_guard
from ingot.core.db.database import Database
from ingot.core.db.ports import Ports
from ingot.core.late_imports import Deferred, DeferredFunction
from ingot.core.settings import Settings
from ingot.server.registry import SUBSCRIBER_MODULES

_RELATED = "ingot.collaboration.merge_requests.editing.relations:RelatedMergeRequests"


def list_subscriptions(settings: Settings, database: Database | None = None) -> list[Deferred]:
    """Return the subscriptions of every package, in the order in which subscribers run (docs/events.md).

    Webhooks of a push come first, because the events that follow from the push are delivered after it. Heads of merge
    requests move before it is determined which of them the push has merged. All other webhooks and integrations come
    last, because their payloads show the effects of the other subscribers.
    """
    addresses = Deferred("ingot.projects.projects.views:instance_urls_at", settings.base_url, settings)
    store, base_url = deferred_store(settings), settings.base_url
    merge_requests = "ingot.collaboration.merge_requests"
    return [
        Deferred("ingot.webhooks.subscribers:push_hook_subscriptions", addresses),
        *(Deferred(f"{module}:subscriptions") for module in SUBSCRIBER_MODULES),
        Deferred("ingot.collaboration.issues.discussions.jobs:CommitMessageJob.subscriptions", store, base_url),
        Deferred(f"{merge_requests}.versions.source_tracker:HeadTracker.subscriptions", store, database),
        Deferred(f"{merge_requests}.reviews.suggestion_recorder:SuggestionRecorder.subscriptions", store),
        Deferred("ingot.ci.pipelines.jobs:PipelineCreation.subscriptions", store),
        Deferred(f"{merge_requests}.deployments.jobs:DeploymentRecorder.subscriptions", store),
        Deferred(f"{merge_requests}.push_options:subscriptions"),
        Deferred(f"{merge_requests}.merge.subscribers:subscriptions"),
        Deferred(f"{merge_requests}.merge.train_subscribers:subscriptions"),
        Deferred(f"{merge_requests}.merge.stack_subscribers:subscriptions"),
        Deferred("ingot.collaboration.issues.discussions.mentions:mention_subscriptions", base_url),
        Deferred(f"{merge_requests}.discussions.mention_subscribers:ReferenceSubscriber.subscriptions", base_url),
        Deferred("ingot.webhooks.subscribers:hook_subscriptions", addresses),
        Deferred("ingot.integrations.subscribers:integration_subscriptions", addresses),
    ]


def worker_ports(database: Database, writer: Executor) -> list[Deferred]:
    """Return the ports that only a web worker can fill, because they write in its writer thread."""
    note_download = DeferredFunction("ingot.packages.files.downloads:download_tracker.note", database, writer)
    extend_session = DeferredFunction("ingot.accounts.sessions.extension:SessionExtender.extend", database, writer)
    return [
        Deferred("ingot.packages.files.ports:PackageDownloads", note_download),
        Deferred("ingot.accounts.sessions.ports:SessionExtension", extend_session),
    ]


def fill_ports(settings: Settings) -> Ports:
    """Fill every port: the queries that packages declare and higher packages implement."""
    store = deferred_store(settings)
    return Ports(
        *_ports_of_projects(settings, store),
        *_ports_of_repositories(settings, store),
        *_ports_of_collaboration(settings, store),
    )


def _ports_of_projects(settings: Settings, store: Deferred) -> tuple[Deferred, ...]:
    """Return the ports of accounts and projects."""
    return (
        Deferred(
            "ingot.projects.projects.ports:CiSettingsReader",
            DeferredFunction("ingot.ci.pipelines.project_settings:project_ci_settings"),
        ),
        Deferred(
            "ingot.accounts.instance.ports:UserAddresses",
            DeferredFunction("ingot.accounts.sessions.user_addresses:admit_address"),
        ),
        Deferred(
            "ingot.accounts.instance.ports:TermsAcceptance",
            DeferredFunction("ingot.accounts.users.service:accept_terms"),
        ),
        Deferred(
            "ingot.accounts.instance.ports:RunnerRegistration",
            DeferredFunction("ingot.ci.runners.registration:instance_registration_token"),
        ),
        Deferred(
            "ingot.projects.environments.ports:DeploymentJobs",
            DeferredFunction("ingot.ci.job_records.deployment_jobs:DeploymentJobViews.views", store, settings.base_url),
        ),
        Deferred(
            "ingot.core.mail.ports:MailFrames",
            DeferredFunction("ingot.accounts.appearance.records:mail_frame"),
        ),
        Deferred(
            "ingot.accounts.keys.ports:KeyProjects",
            DeferredFunction("ingot.projects.deploy_keys.queries:projects_of_key"),
        ),
        Deferred(
            "ingot.accounts.two_factor.ports:GroupRequirements",
            DeferredFunction("ingot.projects.namespaces.two_factor:two_factor_due_at"),
        ),
        Deferred("ingot.accounts.users.ports:PublicAddress", settings.base_url),
        Deferred(
            "ingot.accounts.users.ports:UserNamespaces",
            DeferredFunction("ingot.projects.namespaces.queries:namespace_ids_of_users"),
        ),
        Deferred(
            "ingot.projects.groups.ports:GroupRunners",
            DeferredFunction("ingot.ci.runners.registration:group_registration_token"),
        ),
        Deferred(
            "ingot.projects.groups.ports:GroupProjects",
            DeferredFunction("ingot.projects.group_projects.queries:storage_sizes"),
            DeferredFunction("ingot.projects.group_projects.queries:has_more_visible_project"),
        ),
        Deferred(
            "ingot.projects.projects.ports:ReferenceLinks",
            DeferredFunction("ingot.collaboration.markdown.references:find_links"),
        ),
        Deferred(
            "ingot.projects.projects.ports:BranchDeletions",
            DeferredFunction("ingot.repositories.ref_changes.queries:is_deletion_pending"),
        ),
        Deferred(
            "ingot.projects.projects.ports:StorageMoves",
            DeferredFunction("ingot.repositories.storage_moves.service:move_to_storage"),
        ),
        Deferred(
            "ingot.projects.projects.ports:JobTokenScopes",
            DeferredFunction("ingot.ci.job_tokens.queries:allows_job_token"),
        ),
    )


def _ports_of_repositories(settings: Settings, store: Deferred) -> tuple[Deferred, ...]:
    """Return the ports of repositories and CI."""
    return (
        Deferred(
            "ingot.repositories.ref_changes.ports:PipelineConfigurations",
            DeferredFunction("ingot.ci.pipelines.jobs:configured_refs"),
        ),
        Deferred(
            "ingot.ci.pipelines.ports:CiEnvironment",
            settings.base_url,
            settings.reported_version,
            instance_guard(settings),
            settings.data,
            settings.ci_needs_size_limit,
        ),
        Deferred(
            "ingot.repositories.commits.ports:CommitMergeRequests",
            DeferredFunction(f"{_RELATED}.list_introducing", store),
        ),
        Deferred(
            "ingot.repositories.ref_changes.ports:PushOptionHandler",
            DeferredFunction("ingot.collaboration.merge_requests.push_options:MergeRequestPushOptions.apply", store),
        ),
        Deferred(
            "ingot.repositories.ref_changes.ports:MergeRequestHeads",
            DeferredFunction("ingot.collaboration.merge_requests.merge.queries:merge_request_heads"),
        ),
        Deferred(
            "ingot.ci.job_records.ports:JobArtifacts",
            DeferredFunction("ingot.ci.artifacts.queries:artifact_summaries"),
            DeferredFunction("ingot.ci.jobs.service:delete_job_files"),
        ),
    )


def _ports_of_collaboration(settings: Settings, store: Deferred) -> tuple[Deferred, ...]:
    """Return the ports of issues, merge requests and boards."""
    return (
        Deferred(
            "ingot.collaboration.participants.ports:SubjectKinds",
            (
                Deferred("ingot.collaboration.issues.subject_kind:ISSUE_KIND"),
                Deferred("ingot.collaboration.merge_requests.subject_kind:MERGE_REQUEST_KIND"),
            ),
        ),
        Deferred(
            "ingot.collaboration.issues.ports:IssueBoards",
            DeferredFunction("ingot.collaboration.boards.queries:labels_of_only_board"),
        ),
        Deferred("ingot.collaboration.merge_requests.ports:MergeRequestAddresses", settings.base_url),
        Deferred(
            "ingot.collaboration.external_issues:ExternalTrackers",
            DeferredFunction("ingot.integrations.queries:external_tracker_or_none"),
        ),
        Deferred("ingot.collaboration.boards.ports:BoardDefaults", settings.profile == "9.4"),
        Deferred(
            "ingot.collaboration.issues.ports:IssueMergeRequests",
            DeferredFunction(f"{_RELATED}.list_closing", store),
            DeferredFunction(f"{_RELATED}.list_related", store),
            DeferredFunction("ingot.collaboration.merge_requests.editing.relations:count_closing_merge_requests"),
            DeferredFunction("ingot.collaboration.merge_requests.discussions.follow_up_issues:follow_up_description"),
        ),
    )


def deferred_store(settings: Settings) -> Deferred:
    """Return the store of all repositories of the instance."""
    return Deferred("ingot.projects.projects.api:repository_store", settings)
