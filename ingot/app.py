"""The one place that builds: which rooms there are, and how the doors are wired to them."""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import literal, select

from ingot.access.actor import Actor
from ingot.access.credentials import Credentials
from ingot.access.rules import anyone
from ingot.activity import api as activity
from ingot.activity.subscribers import subscriptions as activity_subscriptions
from ingot.announcements.outfits import dress
from ingot.announcements.subscribers import announcement_subscriptions
from ingot.announcements.work import MAIL_PUSHES, PushMail
from ingot.api.door import PREFIX, ApiDoor
from ingot.api.inside import Inside
from ingot.api.kernel import Kernel
from ingot.api.openapi import openapi_document
from ingot.api.router import Router
from ingot.api.routes import Call, Endpoint, Raw, Routes
from ingot.badges import api as badges
from ingot.boards import api as boards
from ingot.boards.subscribers import subscriptions as board_subscriptions
from ingot.custom_attributes import api as custom_attributes
from ingot.db.connection import Connection
from ingot.db.database import Database, wall_clock
from ingot.db.engines import engine_for
from ingot.db.times import Timestamp
from ingot.db.vault import Vault
from ingot.deploy_keys import api as deploy_keys
from ingot.deploy_keys.subscribers import subscriptions as deploy_key_subscriptions
from ingot.deploy_tokens import api as deploy_tokens
from ingot.emoji.subscribers import subscriptions as emoji_subscriptions
from ingot.environments import api as environments
from ingot.errors import Unavailable
from ingot.events.bus import gather
from ingot.features import api as features
from ingot.groups import api as groups
from ingot.groups.members.service import drop_ended as drop_ended_memberships
from ingot.groups.namespaces import api as namespaces
from ingot.groups.namespaces.subscribers import subscriptions as namespace_subscriptions
from ingot.groups.shares.service import drop_ended_group_shares
from ingot.groups.subscribers import subscriptions as group_subscriptions
from ingot.histories.subscribers import subscriptions as history_subscriptions
from ingot.hooks import api as hooks
from ingot.hooks.delivery.dispatcher import Dispatcher
from ingot.hooks.finishing import Finisher
from ingot.hooks.instance import api as system_hooks
from ingot.hooks.instance.subscribers import subscriptions as system_hook_subscriptions
from ingot.hooks.service import drop_old_events
from ingot.hooks.subscribers import hook_subscriptions
from ingot.http.front import Front
from ingot.http.metrics import Metrics
from ingot.http.request import Door
from ingot.instance import api as instance
from ingot.instance.limits import ApiLimits
from ingot.instance.throttles import drop_ended as drop_ended_throttles
from ingot.involvement.subscribers import subscriptions as involvement_subscriptions
from ingot.issues import api as issues
from ingot.issues.links import api as issue_links
from ingot.issues.links.subscribers import subscriptions as issue_link_subscriptions
from ingot.issues.planning import api as issue_planning
from ingot.issues.planning.subscribers import subscriptions as issue_planning_subscriptions
from ingot.issues.subscribers import subscriptions as issue_subscriptions
from ingot.issues.talk import api as issue_talk
from ingot.issues.talk.involving import subscriptions as issue_involving_subscriptions
from ingot.issues.talk.mentions import mention_subscriptions
from ingot.issues.talk.subscribers import subscriptions as issue_talk_subscriptions
from ingot.issues.talk.work import READ_COMMITS, CommitWork
from ingot.jobs.numbers import job_numbers
from ingot.jobs.worker import Recurring, Worker
from ingot.labels import api as labels
from ingot.labels.subscribers import subscriptions as label_subscriptions
from ingot.lfs import api as lfs
from ingot.lfs.files import lfs_files_of
from ingot.lfs.subscribers import subscriptions as lfs_subscriptions
from ingot.lfs.work import SWEEP_LFS, LfsWork, ask_for_lfs_sweep
from ingot.log import Log
from ingot.mail.post import KIND as MAIL
from ingot.mail.post import Post
from ingot.merge_requests import api as merge_requests
from ingot.merge_requests.merging import api as merging
from ingot.merge_requests.merging.subscribers import subscriptions as merging_subscriptions
from ingot.merge_requests.merging.wishes import MERGE_WHEN_READY, REMOVE_LEFT_BRANCH
from ingot.merge_requests.merging.work import merge_when_ready, remove_left_branch
from ingot.merge_requests.talk import api as merge_request_talk
from ingot.merge_requests.talk.involving import subscriptions as merge_request_involving_subscriptions
from ingot.merge_requests.talk.subscribers import subscriptions as merge_request_talk_subscriptions
from ingot.merge_requests.upkeep import api as merge_request_upkeep
from ingot.merge_requests.upkeep.subscribers import Answers
from ingot.merge_requests.upkeep.subscribers import subscriptions as merge_request_subscriptions
from ingot.merge_requests.versions import api as versions
from ingot.merge_requests.versions.tracking import COLLECT_VERSIONS, Tracker
from ingot.milestones import api as milestones
from ingot.notes import api as notes
from ingot.notes.subscribers import subscriptions as note_subscriptions
from ingot.notifications import api as notifications
from ingot.notifications.notices import NOTIFY
from ingot.notifications.subscribers import subscriptions as notification_subscriptions
from ingot.notifications.work import Notifier
from ingot.oauth import api as oauth
from ingot.oauth.subscribers import subscriptions as oauth_subscriptions
from ingot.outgoing.guard import Guard
from ingot.projects import api as projects
from ingot.projects.forks import api as forks
from ingot.projects.heads import SETTLE_HEAD
from ingot.projects.imports import api as imports
from ingot.projects.imports.service import IMPORT_PROJECT, fail_lost_imports
from ingot.projects.imports.subscribers import subscriptions as import_subscriptions
from ingot.projects.imports.work import ImportWork
from ingot.projects.of_groups import api as of_groups
from ingot.projects.people import api as people
from ingot.projects.people.service import drop_ended_shares
from ingot.projects.people.subscribers import subscriptions as star_subscriptions
from ingot.projects.service import MEASURE_PROJECT, REMOVE_PROJECT, TIDY_PROJECT
from ingot.projects.subscribers import subscriptions as project_subscriptions
from ingot.projects.uploads import api as uploads
from ingot.projects.uploads.files import uploads_of
from ingot.projects.uploads.work import SWEEP_UPLOADS, UploadWork, ask_for_upload_sweep
from ingot.projects.views import addresses_at
from ingot.projects.work import SWEEP_PROJECTS, ProjectWork, ask_for_sweep
from ingot.releases import api as releases
from ingot.renderings import api as renderings
from ingot.renderings.subscribers import subscriptions as rendering_subscriptions
from ingot.repository.branches import api as branches
from ingot.repository.changes.subscribers import subscriptions as change_subscriptions
from ingot.repository.changes.work import SETTLE_CHANGES, ask_to_settle, settle_all
from ingot.repository.commits import api as commits
from ingot.repository.comparing import api as comparing
from ingot.repository.files import api as repository_files
from ingot.repository.filing import api as filing
from ingot.repository.making import api as making
from ingot.repository.pipelines.subscribers import subscriptions as pipeline_subscriptions
from ingot.repository.protection import api as protection
from ingot.repository.tags import api as tags
from ingot.repository.tags.subscribers import subscriptions as tag_subscriptions
from ingot.repository.trees import api as trees
from ingot.runners import api as runners
from ingot.search import api as search
from ingot.services import api as services
from ingot.settings import Settings
from ingot.snippets import api as snippets
from ingot.snippets.subscribers import subscriptions as snippet_subscriptions
from ingot.statuses import api as statuses
from ingot.templates import api as templates
from ingot.todos import api as todos
from ingot.todos.subscribers import subscriptions as todo_subscriptions
from ingot.topics import api as topics
from ingot.topics.subscribers import subscriptions as topic_subscriptions
from ingot.transport.activity import Activity
from ingot.transport.admission import Admission
from ingot.transport.http import GitDoor
from ingot.transport.lfs_http import LfsDoor
from ingot.triggers import api as triggers
from ingot.users.accounts import api as accounts
from ingot.users.authentication import authenticate
from ingot.users.emails import api as emails
from ingot.users.keys import api as keys
from ingot.users.providers.people import CHECK_DIRECTORY, DirectoryWork, ask_to_check
from ingot.users.sessions import api as sessions
from ingot.users.sessions.service import drop_ended as drop_ended_sessions
from ingot.users.sessions.subscribers import subscriptions as session_subscriptions
from ingot.users.tokens import api as tokens
from ingot.users.tokens.subscribers import subscriptions as token_subscriptions
from ingot.users.tokens.usage import TokenUsage
from ingot.variables import api as variables
from ingot.web.door import WebDoor
from ingot.wikis import api as wikis

own_routes = Routes("documents")
ROOMS = (
    accounts,
    tokens,
    sessions,
    keys,
    emails,
    oauth,
    namespaces,
    groups,
    projects,
    people,
    forks,
    imports,
    uploads,
    of_groups,
    branches,
    protection,
    tags,
    releases,
    commits,
    comparing,
    statuses,
    notes,
    repository_files,
    lfs,
    making,
    filing,
    trees,
    variables,
    deploy_tokens,
    deploy_keys,
    topics,
    badges,
    custom_attributes,
    environments,
    triggers,
    runners,
    instance,
    features,
    templates,
    labels,
    milestones,
    issues,
    issue_planning,
    boards,
    issue_links,
    issue_talk,
    todos,
    merge_requests,
    merge_request_upkeep,
    versions,
    merge_request_talk,
    merging,
    snippets,
    wikis,
    activity,
    notifications,
    search,
    renderings,
    hooks,
    system_hooks,
    services,
)
_ONE = select(literal(1))
# Some clients still use the older prefix for uploads, and for nothing else.
OLD_PREFIX = b"/api/v3"
_OLD_ROUTES = re.compile(rb"/projects/[^/]+/uploads/?")
SUBSCRIPTIONS = (
    token_subscriptions,
    star_subscriptions,
    import_subscriptions,
    topic_subscriptions,
    group_subscriptions,
    namespace_subscriptions,
    project_subscriptions,
    change_subscriptions,
    pipeline_subscriptions,
    note_subscriptions,
    label_subscriptions,
    issue_subscriptions,
    issue_planning_subscriptions,
    board_subscriptions,
    issue_link_subscriptions,
    issue_talk_subscriptions,
    issue_involving_subscriptions,
    merge_request_involving_subscriptions,
    todo_subscriptions,
    involvement_subscriptions,
    activity_subscriptions,
    notification_subscriptions,
    merge_request_subscriptions,
    merge_request_talk_subscriptions,
    emoji_subscriptions,
    history_subscriptions,
    snippet_subscriptions,
    tag_subscriptions,
    deploy_key_subscriptions,
    lfs_subscriptions,
    session_subscriptions,
    oauth_subscriptions,
    rendering_subscriptions,
    system_hook_subscriptions,
)


def all_endpoints() -> list[Endpoint]:
    """Every endpoint of the API."""
    return [endpoint for room in ROOMS for endpoint in room.routes.endpoints] + own_routes.endpoints


@own_routes.get("/openapi.json", may=anyone, returns=Raw)
def get_openapi_document(call: Call) -> Raw:  # noqa: ARG001 - Every handler gets its call.
    """Get the OpenAPI document of this API."""
    return Raw(msgspec.json.encode(api_document()), "application/json")


@cache
def api_document() -> dict[str, Any]:
    """The OpenAPI document of all of them."""
    return openapi_document(all_endpoints(), version("ingot"))


def open_database(settings: Settings, clock: Callable[[], Timestamp] = wall_clock) -> Database:
    """The database of an instance whose data directory exists."""
    secret = bytes.fromhex((settings.data / "secrets" / "instance.key").read_text().strip())
    store = projects.store_of(settings)
    tracker, answers, commits = Tracker(store), Answers(store), CommitWork(store, settings.base_url)
    # Heads move before it is asked which of them a push has merged. Hooks hear last, when everybody else has done what
    # follows; what they tell leads back to this instance.
    at = addresses_at(settings.base_url, settings)
    of_git = (commits.subscriptions, answers.subscriptions, tracker.subscriptions, merging_subscriptions)
    tellers = (mention_subscriptions(settings.base_url), hook_subscriptions(at), announcement_subscriptions(at))
    subscribers = gather((*SUBSCRIPTIONS, *of_git, *tellers))
    tracker.database = Database(engine_for(settings.database), Vault(secret), subscribers, clock)
    return tracker.database


class App:
    """What serves HTTP in one web worker."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        log: Log,
        metrics_folder: Path | None,
        endpoints: Sequence[Endpoint] | None = None,
    ) -> None:
        self.database = database
        self._settings = settings
        router = Router(all_endpoints() if endpoints is None else endpoints, attrgetter("slashes"))
        self.kernel = Kernel(router, database, self._authenticate, ApiLimits(database), settings)
        self._usage = TokenUsage(database, self.kernel.writer)
        web = WebDoor(settings, database, self.kernel.pool, Inside(router.declared, database, settings))
        admission = Admission(settings, database, self.kernel.pool, Activity(database, self.kernel.writer))
        git = GitDoor(settings, database, self.kernel.pool, log, admission, web)
        doors: list[tuple[bytes, Door]] = [
            (PREFIX + b"/docs", web),
            (PREFIX, ApiDoor(self.kernel)),
            (OLD_PREFIX, ApiDoor(self.kernel, OLD_PREFIX, _OLD_ROUTES)),
            (b"", LfsDoor(settings, database, self.kernel.pool, admission, git)),
        ]
        metrics = Metrics(metrics_folder, partial(database.read, job_numbers))
        self.front = Front(settings, doors, self.health, metrics, log)

    def _authenticate(self, db: Connection, credentials: Credentials) -> Actor:
        actor = authenticate(db, credentials)
        self._usage.note(actor.token_id)
        return actor

    def settle(self) -> None:
        """Bring what a crash left half done to its end, before anybody is served."""
        settle_all(self.database, projects.store_of(self._settings))

    def health(self) -> dict[str, str]:
        """What serves and what does not; the truth at this moment."""
        served = {role: _served(self.database, role) for role in ("jobs", "ssh")}
        return {"database": _database_state(self.database), **served}

    def close(self) -> None:
        """Finish what runs, then let go of the database."""
        self.kernel.close()
        self.database.close()


def job_worker(settings: Settings, database: Database, log: Log) -> Worker:
    """What empties the queue in the job process."""
    store, files = projects.store_of(settings), uploads_of(settings)
    work, tracker = ProjectWork(store, files), Tracker(store)
    return Worker(
        database,
        {
            MAIL: Post(settings).deliver,
            NOTIFY: Notifier(settings).notify,
            REMOVE_PROJECT: work.remove,
            TIDY_PROJECT: work.tidy,
            MEASURE_PROJECT: work.measure,
            SETTLE_HEAD: work.settle_head,
            SWEEP_PROJECTS: work.sweep,
            SETTLE_CHANGES: lambda database, _: settle_all(database, store),
            IMPORT_PROJECT: ImportWork(store, Guard(settings.allow_local_requests, settings.reachable)).run,
            SWEEP_UPLOADS: UploadWork(files).sweep,
            COLLECT_VERSIONS: tracker.collect,
            MERGE_WHEN_READY: lambda database, number: merge_when_ready(database, store, number),
            REMOVE_LEFT_BRANCH: lambda database, number: remove_left_branch(database, store, number),
            SWEEP_LFS: LfsWork(lfs_files_of(settings)).sweep,
            READ_COMMITS: CommitWork(store, settings.base_url).read,
            MAIL_PUSHES: PushMail(Finisher(database, store, log), store).run,
            CHECK_DIRECTORY: DirectoryWork(settings).check,
        },
        [
            Recurring(600, drop_ended_sessions),
            Recurring(600, drop_ended_throttles),
            Recurring(3600, drop_ended_memberships),
            Recurring(3600, drop_ended_shares),
            Recurring(3600, drop_ended_group_shares),
            Recurring(3600, ask_for_sweep),
            *([Recurring(3600, ask_to_check)] if settings.ldap_url else []),
            Recurring(600, fail_lost_imports),
            Recurring(60, ask_to_settle),
            Recurring(86_400, ask_for_upload_sweep),
            Recurring(86_400, ask_for_lfs_sweep),
            Recurring(600, partial(drop_old_events, days=settings.hook_log_days), "drop old events of hooks"),
        ],
        log,
    )


def hook_dispatcher(settings: Settings, database: Database, log: Log) -> Dispatcher:
    """What delivers for hooks in the job process."""
    guard = Guard(settings.allow_local_requests, settings.reachable)
    finisher = Finisher(database, projects.store_of(settings), log)
    return Dispatcher(database, guard, finisher, settings.base_url, log, dress)


def _database_state(database: Database) -> str:
    try:
        database.read(lambda db: db.value(_ONE))
    except Unavailable:
        return "failed"
    return "ok"


def _served(database: Database, role: str) -> str:
    return "ok" if database.engine.is_served(role) else "failed"
