"""Registry of the modules that declare endpoints of the API, and of those that subscribe to events.

Modules are imported when they are first needed (docs/internals.md).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from operator import attrgetter

from ingot.core.api.route_table import IndexedRoute, RouteTable
from ingot.core.api.routes import Endpoint
from ingot.core.module_index import index_lines

ROUTE_MODULES = (
    "ingot.accounts.users.api",
    "ingot.accounts.tokens.api",
    "ingot.accounts.sessions.api",
    "ingot.accounts.keys.api",
    "ingot.accounts.emails.api",
    "ingot.accounts.oauth.api",
    "ingot.projects.namespaces.api",
    "ingot.projects.groups.api",
    "ingot.projects.projects.api",
    "ingot.projects.sharing.api",
    "ingot.projects.statistics.api",
    "ingot.projects.forks.api",
    "ingot.projects.imports.api",
    "ingot.projects.uploads.api",
    "ingot.projects.group_projects.api",
    "ingot.repositories.branches.api",
    "ingot.repositories.protection.api",
    "ingot.repositories.tags.api",
    "ingot.collaboration.releases.api",
    "ingot.repositories.commits.api",
    "ingot.repositories.comparisons.api",
    "ingot.repositories.commit_statuses.api",
    "ingot.collaboration.notes.api",
    "ingot.repositories.files.api",
    "ingot.repositories.lfs.api",
    "ingot.repositories.commit_writing.api",
    "ingot.repositories.file_writing.api",
    "ingot.repositories.trees.api",
    "ingot.projects.variables.api",
    "ingot.projects.access_tokens.api",
    "ingot.projects.deploy_tokens.api",
    "ingot.projects.deploy_keys.api",
    "ingot.projects.topics.api",
    "ingot.projects.badges.api",
    "ingot.projects.audit_events.api",
    "ingot.repositories.storage_moves.api",
    "ingot.projects.custom_attributes.api",
    "ingot.projects.environments.api",
    "ingot.projects.feature_flags.api",
    "ingot.ci.artifacts.api",
    "ingot.ci.job_tokens.api",
    "ingot.ci.jobs.api",
    "ingot.ci.pipelines.api",
    "ingot.ci.lint.api",
    "ingot.ci.schedules.api",
    "ingot.ci.freeze_periods.api",
    "ingot.ci.secure_files.api",
    "ingot.ci.terraform.api",
    "ingot.ci.triggers.api",
    "ingot.sites.project_pages.api",
    "ingot.sites.deployments.api",
    "ingot.sites.domains.api",
    "ingot.ci.downstream.api",
    "ingot.ci.runners.api",
    "ingot.ci.runner_protocol.api",
    "ingot.packages.generic.api",
    "ingot.packages.pypi.api",
    "ingot.packages.npm.api",
    "ingot.packages.maven.api",
    "ingot.packages.protection.api",
    "ingot.packages.containers.api",
    "ingot.packages.records.api",
    "ingot.accounts.instance.api",
    "ingot.accounts.features.api",
    "ingot.accounts.appearance.api",
    "ingot.accounts.audit_events.api",
    "ingot.repositories.templates.api",
    "ingot.collaboration.labels.api",
    "ingot.collaboration.milestones.api",
    "ingot.collaboration.issues.api",
    "ingot.collaboration.issues.milestone_issues.api",
    "ingot.collaboration.issues.positions.api",
    "ingot.collaboration.boards.api",
    "ingot.collaboration.issues.links.api",
    "ingot.collaboration.issues.discussions.api",
    "ingot.collaboration.todos.api",
    "ingot.collaboration.merge_requests.api",
    "ingot.collaboration.merge_requests.approval_settings.api",
    "ingot.collaboration.merge_requests.editing.api",
    "ingot.collaboration.merge_requests.deployments.api",
    "ingot.collaboration.merge_requests.versions.api",
    "ingot.collaboration.merge_requests.discussions.api",
    "ingot.collaboration.merge_requests.reviews.api",
    "ingot.collaboration.merge_requests.merge.api",
    "ingot.collaboration.merge_requests.merge.stack_api",
    "ingot.collaboration.merge_requests.merge.train_api",
    "ingot.collaboration.snippets.api",
    "ingot.repositories.wikis.api",
    "ingot.repositories.snapshots.api",
    "ingot.repositories.mirrors.api",
    "ingot.repositories.push_rules.api",
    "ingot.repositories.group_protection.api",
    "ingot.repositories.changelogs.api",
    "ingot.repositories.pull_mirrors.api",
    "ingot.activity.api",
    "ingot.notifications.api",
    "ingot.search.api",
    "ingot.activity.instance_statistics.api",
    "ingot.collaboration.markdown.api",
    "ingot.webhooks.api",
    "ingot.webhooks.system.api",
    "ingot.integrations.api",
    "ingot.import_export.exports.api",
    "ingot.import_export.runs.api",
    "ingot.import_export.placeholders.api",
    "ingot.server.api_document",
)
"""Modules with endpoints, each as its ``routes``."""
SUBSCRIBER_MODULES = (
    "ingot.accounts.tokens.subscribers",
    "ingot.projects.sharing.subscribers",
    "ingot.projects.imports.subscribers",
    "ingot.projects.forks.subscribers",
    "ingot.projects.topics.subscribers",
    "ingot.projects.groups.subscribers",
    "ingot.projects.namespaces.subscribers",
    "ingot.projects.invitations.subscribers",
    "ingot.projects.projects.subscribers",
    "ingot.projects.access_tokens.subscribers",
    "ingot.repositories.ref_changes.subscribers",
    "ingot.repositories.mirrors.subscribers",
    "ingot.repositories.pull_mirrors.subscribers",
    "ingot.pipelines.subscribers",
    "ingot.ci.pipelines.subscribers",
    "ingot.ci.downstream.subscribers",
    "ingot.ci.runners.subscribers",
    "ingot.ci.schedules.subscribers",
    "ingot.collaboration.notes.subscribers",
    "ingot.collaboration.labels.subscribers",
    "ingot.collaboration.issues.subscribers",
    "ingot.collaboration.issues.milestone_issues.subscribers",
    "ingot.collaboration.boards.subscribers",
    "ingot.collaboration.issues.links.subscribers",
    "ingot.collaboration.issues.discussions.subscribers",
    "ingot.collaboration.issues.discussions.subject_events",
    "ingot.collaboration.merge_requests.discussions.subject_events",
    "ingot.collaboration.todos.subscribers",
    "ingot.collaboration.planning.timelogs.subscribers",
    "ingot.collaboration.participants.subscribers",
    "ingot.activity.subscribers",
    "ingot.notifications.subscribers",
    "ingot.collaboration.merge_requests.editing.subscribers",
    "ingot.collaboration.merge_requests.discussions.subscribers",
    "ingot.collaboration.emoji.subscribers",
    "ingot.collaboration.resource_events.subscribers",
    "ingot.collaboration.snippets.subscribers",
    "ingot.repositories.tags.subscribers",
    "ingot.projects.deploy_keys.subscribers",
    "ingot.repositories.lfs.subscribers",
    "ingot.accounts.sessions.subscribers",
    "ingot.accounts.oauth.subscribers",
    "ingot.webhooks.system.subscribers",
    "ingot.webhooks.group_subscribers",
    "ingot.sites.deployments.subscribers",
    "ingot.web.live.subscribers",
)
"""Modules with subscribers, each as its ``subscriptions``, in the order in which they run."""


def all_endpoints() -> list[Endpoint]:
    """Return every endpoint of the API; imports all modules."""
    return [endpoint for module in ROUTE_MODULES for endpoint in import_module(module).routes.endpoints]


@cache
def endpoint_table() -> RouteTable[Endpoint]:
    """Return the table of all endpoints; built before the workers are forked, so that they share its memory."""
    return RouteTable((IndexedRoute(*words) for words in index_lines("route")), attrgetter("routes.endpoints"))


@cache
def subscription_index() -> Mapping[str, Sequence[str]]:
    """Return the names of the subscriptions to each event, by the event's name."""
    return {event: names for event, *names in index_lines("event")}
