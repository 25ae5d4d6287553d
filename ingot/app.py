"""The one place that builds: how the doors, the database and the job process are wired to the rooms."""

import re
import traceback
from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import attrgetter
from pathlib import Path

from sqlalchemy import literal, select

from ingot.access.actor import Actor
from ingot.access.credentials import Credentials
from ingot.announcements.outfits import dress
from ingot.announcements.referring import TELL_JIRA, Referring
from ingot.announcements.subscribers import announcement_subscriptions
from ingot.announcements.work import MAIL_PUSHES, PushMail
from ingot.api.door import PREFIX, ApiDoor
from ingot.api.inside import Inside
from ingot.api.kernel import Kernel
from ingot.api.router import Router
from ingot.api.routes import Endpoint
from ingot.db.connection import Connection
from ingot.db.database import Database, wall_clock
from ingot.db.engines import engine_for
from ingot.db.times import Timestamp
from ingot.db.vault import Vault
from ingot.errors import Unavailable
from ingot.events.bus import gather
from ingot.groups.members.service import drop_ended as drop_ended_memberships
from ingot.groups.shares.service import drop_ended_group_shares
from ingot.hooks.delivery.dispatcher import Dispatcher
from ingot.hooks.finishing import Finisher
from ingot.hooks.service import drop_old_events
from ingot.hooks.subscribers import hook_subscriptions, push_hook_subscriptions
from ingot.http.front import Front
from ingot.http.metrics import Metrics
from ingot.http.request import Door
from ingot.instance.limits import ApiLimits
from ingot.instance.throttles import drop_ended as drop_ended_throttles
from ingot.issues.talk.mentions import mention_subscriptions
from ingot.issues.talk.work import READ_COMMITS, CommitWork
from ingot.jobs.numbers import job_numbers
from ingot.jobs.worker import Recurring, Worker
from ingot.lfs.files import lfs_files_of
from ingot.lfs.work import SWEEP_LFS, LfsWork, ask_for_lfs_sweep
from ingot.log import Log
from ingot.mail.post import KIND as MAIL
from ingot.mail.post import Post
from ingot.merge_requests.merging.subscribers import subscriptions as merging_subscriptions
from ingot.merge_requests.merging.wishes import MERGE_WHEN_READY, REMOVE_LEFT_BRANCH
from ingot.merge_requests.merging.work import merge_when_ready, remove_left_branch
from ingot.merge_requests.talk.hearing import Hearing
from ingot.merge_requests.upkeep.subscribers import Answers
from ingot.merge_requests.versions.tracking import COLLECT_VERSIONS, Tracker
from ingot.notifications.commits import NOTIFY_OF_COMMIT, CommitMail
from ingot.notifications.notices import NOTIFY
from ingot.notifications.pipelines import NOTIFY_OF_PIPELINE, PipelineMail
from ingot.notifications.work import Notifier
from ingot.outgoing.guard import Guard
from ingot.projects import api as projects
from ingot.projects.forks.service import COPY_PROJECT, fail_lost_copies
from ingot.projects.forks.work import CopyWork
from ingot.projects.heads import SETTLE_HEAD
from ingot.projects.imports.service import IMPORT_PROJECT, fail_lost_imports
from ingot.projects.imports.work import ImportWork
from ingot.projects.people.service import drop_ended_shares
from ingot.projects.service import MEASURE_PROJECT, REMOVE_PROJECT, TIDY_PROJECT
from ingot.projects.uploads.files import uploads_of
from ingot.projects.uploads.work import SWEEP_UPLOADS, UploadWork, ask_for_upload_sweep
from ingot.projects.views import addresses_at
from ingot.projects.work import SWEEP_PROJECTS, ProjectWork, ask_for_sweep
from ingot.repository.changes.work import SETTLE_CHANGES, ask_to_settle, settle_all
from ingot.rooms import SUBSCRIPTIONS, all_endpoints
from ingot.settings import Settings
from ingot.transport.activity import Activity
from ingot.transport.admission import Admission
from ingot.transport.http import GitDoor
from ingot.transport.lfs_http import LfsDoor
from ingot.users.authentication import authenticate
from ingot.users.providers.people import CHECK_DIRECTORY, DirectoryWork, ask_to_check
from ingot.users.sessions.service import drop_ended as drop_ended_sessions
from ingot.users.tokens.usage import TokenUsage
from ingot.web.door import WebDoor

_ONE = select(literal(1))
# Some clients still use the older prefix for uploads, and for nothing else.
OLD_PREFIX = b"/api/v3"
_NOTHING = re.compile(rb"(?!)")
_OLD_ROUTES = re.compile(rb"/projects/[^/]+/uploads/?")


def open_database(settings: Settings, clock: Callable[[], Timestamp] = wall_clock) -> Database:
    """The database of an instance whose data directory exists."""
    secret = bytes.fromhex((settings.data / "secrets" / "instance.key").read_text().strip())
    store = projects.store_of(settings)
    tracker, answers, commits = Tracker(store), Answers(store), CommitWork(store, settings.base_url)
    # Heads move before it is asked which of them a push has merged. Hooks hear of a push first, since what follows from
    # it is told after it, and of all else last, when everybody has done what follows; what they tell leads back here.
    at = addresses_at(settings.base_url, settings)
    of_git = (commits.subscriptions, answers.subscriptions, tracker.subscriptions, merging_subscriptions)
    of_texts = (mention_subscriptions(settings.base_url), Hearing(settings.base_url).subscriptions)
    tellers = (hook_subscriptions(at), announcement_subscriptions(at))
    subscribers = gather((push_hook_subscriptions(at), *SUBSCRIPTIONS, *of_git, *of_texts, *tellers))
    tracker.database = Database(engine_for(settings.database), Vault(secret), subscribers, clock)
    return tracker.database


@cache
def api_router() -> Router[Endpoint]:
    """Finds every endpoint of the API; made before workers are forked, it is in memory once."""
    return Router(all_endpoints(), attrgetter("slashes"))


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
        self._log = log
        router = api_router() if endpoints is None else Router(endpoints, attrgetter("slashes"))
        self.kernel = Kernel(router, database, self._authenticate, ApiLimits(database), settings)
        self._usage = TokenUsage(database, self.kernel.writer)
        web = WebDoor(settings, database, self.kernel.pool, Inside(router.declared, database, settings))
        admission = Admission(settings, database, self.kernel.pool, Activity(database, self.kernel.writer))
        git = GitDoor(settings, database, self.kernel.pool, log, admission, web)
        doors: list[tuple[bytes, Door]] = [
            (PREFIX + b"/docs", web),
            (PREFIX, ApiDoor(self.kernel)),
            (OLD_PREFIX, ApiDoor(self.kernel, OLD_PREFIX, _OLD_ROUTES)),
            # Clients that look for another kind of API, such as GraphQL, read that there is none.
            (b"/api", ApiDoor(self.kernel, b"/api", _NOTHING)),
            (b"", LfsDoor(settings, database, self.kernel.pool, admission, git)),
        ]
        metrics = Metrics(metrics_folder, partial(database.read, job_numbers))
        self.front = Front(settings, doors, self.health, metrics, log)

    def _authenticate(self, db: Connection, credentials: Credentials) -> Actor:
        actor = authenticate(db, credentials)
        self._usage.note(actor.token_id)
        return actor

    def settle(self) -> None:
        """Bring what a crash left half done to its end, before anybody is served; a job tries again what cannot be."""
        try:
            settle_all(self.database, projects.store_of(self._settings))
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - One repository in trouble must not end all.
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("changes not settled", error=type(error).__name__, where=where)

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
    guard, finisher = Guard(settings.allow_local_requests, settings.reachable), Finisher(database, store, log)
    return Worker(
        database,
        {
            MAIL: Post(settings).deliver,
            NOTIFY: Notifier(settings).notify,
            NOTIFY_OF_PIPELINE: PipelineMail(settings).run,
            NOTIFY_OF_COMMIT: CommitMail(settings, store).run,
            REMOVE_PROJECT: work.remove,
            TIDY_PROJECT: work.tidy,
            MEASURE_PROJECT: work.measure,
            SETTLE_HEAD: work.settle_head,
            SWEEP_PROJECTS: work.sweep,
            SETTLE_CHANGES: lambda database, _: settle_all(database, store),
            COPY_PROJECT: CopyWork(store).run,
            IMPORT_PROJECT: ImportWork(store, guard).run,
            SWEEP_UPLOADS: UploadWork(files).sweep,
            COLLECT_VERSIONS: tracker.collect,
            MERGE_WHEN_READY: lambda database, number: merge_when_ready(database, store, number),
            REMOVE_LEFT_BRANCH: lambda database, number: remove_left_branch(database, store, number),
            SWEEP_LFS: LfsWork(lfs_files_of(settings)).sweep,
            READ_COMMITS: CommitWork(store, settings.base_url).read,
            MAIL_PUSHES: PushMail(finisher, store).run,
            TELL_JIRA: Referring(finisher, guard, log).run,
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
            Recurring(600, fail_lost_copies),
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
