"""Wiring of the packages: the order of all subscriptions, and the ports of all packages (``server/ports``)."""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from ingot.core.db.database import Database
from ingot.core.db.ports import Ports
from ingot.core.events.bus import LateSubscriptions, Subscriptions
from ingot.core.settings import Settings
from ingot.server.ports import accounts, ci, collaboration, projects, repositories
from ingot.server.registry import SUBSCRIBER_MODULES

if TYPE_CHECKING:
    from ingot.git.maintenance.store import RepositoryStore
    from ingot.projects.projects.views import InstanceUrls


def fill_ports(settings: Settings) -> Ports:
    """Fill every port: the queries that packages declare and higher packages implement."""
    modules = (accounts, projects, repositories, collaboration, ci)
    return Ports(settings, [module.ports for module in modules])


def list_subscriptions(settings: Settings, database: Database | None = None) -> list[LateSubscriptions]:
    """Return the subscriptions of every package, in the order in which subscribers run (docs/events.md).

    Webhooks of a push come first, because the events that follow from the push are delivered after it. Heads of merge
    requests move before it is determined which of them the push has merged. All other webhooks and integrations come
    last, because their payloads show the effects of the other subscribers.
    """
    built = _BuiltSubscriptions(settings, database)
    first = [built.push_hooks]
    last = [
        built.commit_messages,
        built.merge_request_heads,
        built.suggestions,
        built.pipelines,
        built.deployments,
        built.push_options,
        built.merges,
        built.merge_trains,
        built.merge_checks,
        built.stacks,
        built.issue_mentions,
        built.merge_request_mentions,
        built.hooks,
        built.integrations,
    ]
    return [
        *(LateSubscriptions(build.__name__, build) for build in first),
        *(LateSubscriptions(module, partial(_subscriptions_of, module)) for module in SUBSCRIBER_MODULES),
        *(LateSubscriptions(build.__name__, build) for build in last),
    ]


def _subscriptions_of(module: str) -> Subscriptions:
    subscriptions: Subscriptions = import_module(module).subscriptions
    return subscriptions


class _BuiltSubscriptions:
    """Subscriptions that need a setting, the database or the repositories, and those whose place matters."""

    def __init__(self, settings: Settings, database: Database | None) -> None:
        self._settings = settings
        self._database = database

    def push_hooks(self) -> Subscriptions:
        from ingot.webhooks.subscribers import push_hook_subscriptions

        return push_hook_subscriptions(self._urls())

    def commit_messages(self) -> Subscriptions:
        from ingot.collaboration.issues.discussions.jobs import CommitMessageJob

        return CommitMessageJob(self._store(), self._settings.base_url).subscriptions

    def merge_request_heads(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.versions.source_tracker import HeadTracker

        return HeadTracker(self._store(), self._database).subscriptions

    def suggestions(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.reviews.suggestion_recorder import SuggestionRecorder

        return SuggestionRecorder(self._store()).subscriptions

    def pipelines(self) -> Subscriptions:
        from ingot.ci.pipelines.jobs import PipelineCreation

        return PipelineCreation(self._store()).subscriptions

    def deployments(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.deployments.jobs import DeploymentRecorder

        return DeploymentRecorder(self._store()).subscriptions

    def push_options(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.push_options import subscriptions

        return subscriptions

    def merges(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.merge.subscribers import subscriptions

        return subscriptions

    def merge_trains(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.merge.train_subscribers import subscriptions

        return subscriptions

    def merge_checks(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.merge.check_subscribers import subscriptions

        return subscriptions

    def stacks(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.merge.stack_subscribers import subscriptions

        return subscriptions

    def issue_mentions(self) -> Subscriptions:
        from ingot.collaboration.issues.discussions.mentions import mention_subscriptions

        return mention_subscriptions(self._settings.base_url)

    def merge_request_mentions(self) -> Subscriptions:
        from ingot.collaboration.merge_requests.discussions.mention_subscribers import ReferenceSubscriber

        return ReferenceSubscriber(self._settings.base_url).subscriptions

    def hooks(self) -> Subscriptions:
        from ingot.webhooks.subscribers import hook_subscriptions

        return hook_subscriptions(self._urls())

    def integrations(self) -> Subscriptions:
        from ingot.integrations.subscribers import integration_subscriptions

        return integration_subscriptions(self._urls())

    def _urls(self) -> "InstanceUrls":
        from ingot.projects.projects.views import instance_urls_at

        return instance_urls_at(self._settings.base_url, self._settings)

    def _store(self) -> "RepositoryStore":
        from ingot.projects.projects.api import repository_store

        return repository_store(self._settings)
