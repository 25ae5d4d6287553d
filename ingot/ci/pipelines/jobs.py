"""Pipelines that follow from pushes and merge requests.

They are created right after the transaction of the event, before its response. A job creates them after a crash; the
key of the event prevents a second pipeline.
"""

import secrets
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from ingot.ci.pipelines.creation import PipelineRequest, create_pipeline
from ingot.ci.pipelines.given_variables import NOT_ALLOWED, variables_allowed
from ingot.ci.pipelines.insertion import GivenVariable
from ingot.ci.pipelines.merged_results import with_merged_result
from ingot.ci.pipelines.predefined_variables import DEFAULT_CONFIG_PATH
from ingot.ci.pipelines.project_config import is_elsewhere
from ingot.ci.pipelines.start import merge_request_pipeline, variable_problem
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.queries import merge_request_by_id, open_merge_requests_from
from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.errors import Denied, NotFound
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import cancel_job, enqueue
from ingot.core.log import log_failure
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import commit_id_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.entries import entry_or_none
from ingot.git.writing.ref_updates import RefUpdate
from ingot.pipelines.tables import pipelines
from ingot.projects.projects.queries import find_project, project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.repositories.ref_changes.push_options import pusher_or_none, with_push_permission

CREATE_PIPELINES = "create_pipelines"
MAX_REFS = 4
"""Number of refs of a push that get a pipeline."""
JOB_DELAY_SECONDS = 30
"""Delay of the job that takes over if the process of the event crashed."""
_SKIP_OPTION = "ci.skip"
_VARIABLE_OPTION = "ci.variable="
_HAS_PIPELINES = select(pipelines.c.id).where(pipelines.c.project_id == bindparam("project")).limit(1)


class PipelineTriggers(msgspec.Struct, frozen=True):
    """Payload of the job: refs that a user pushed, and merge requests that were opened or pushed to."""

    key: str
    user_id: int
    project_id: int
    updates: tuple[RefUpdate, ...] = ()
    merge_request_ids: tuple[int, ...] = ()
    options: tuple[str, ...] = ()


def configured_refs(repository: Repository, project: Project, updates: Sequence[RefUpdate]) -> tuple[str, ...]:
    """Return the first updated branches and tags whose commits have a configuration."""
    if not project.jobs_enabled or project.archived:
        return ()
    changed = [update for update in updates if (update.branch or update.tag) and not update.deletes][:MAX_REFS]
    return tuple(update.ref for update in changed if has_configuration(repository, project, update.new))


def has_configuration(repository: Repository, project: Project, oid: str) -> bool:
    """Return whether a commit, or the commit of an annotated tag, has a configuration; one elsewhere counts."""
    path = project.ci_config_path or DEFAULT_CONFIG_PATH
    try:
        commit = commit_id_or_none(repository, oid)
        return commit is not None and (
            is_elsewhere(path) or entry_or_none(repository, commit, path.lstrip("/").encode()) is not None
        )
    except (GitError, MissingRepository) as error:  # The event itself has succeeded.
        log_failure("configuration of pipelines not found", error)
        return False


class PipelineCreation:
    """Creates the pipelines of pushes and merge requests."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    @property
    def subscriptions(self) -> Subscriptions:
        """Subscriptions to pushes and merge requests."""
        subscriptions = Subscriptions()
        subscriptions.on(RefsChanged)(self.on_refs_changed)
        subscriptions.on(MergeRequestChanged)(self.on_merge_request_opened)
        return subscriptions

    def on_refs_changed(self, db: Connection, event: RefsChanged) -> None:
        """Create pipelines of pushed branches and tags, and of the open merge requests of the branches."""
        updates = tuple(update for update in event.updates if update.ref in event.configured_refs)
        if event.actor_id is None or not updates:
            return
        branches = [update.branch for update in updates if update.branch is not None]
        moved = open_merge_requests_from(db, event.project_id, branches) if branches else []
        ids = tuple(merge_request.id for merge_request in moved)
        self._create_after_commit(db, event.project_id, event.actor_id, updates, ids, event.push_options)

    def on_merge_request_opened(self, db: Connection, event: MergeRequestChanged) -> None:
        """Create the pipeline of a new or reopened merge request."""
        if event.action not in ("opened", "reopened"):
            return
        merge_request = merge_request_by_id(db, event.merge_request_id)
        project_id = merge_request.source_project_id
        if project_id is not None and self._may_have_pipelines(db, project_id, merge_request.head_oid):
            self._create_after_commit(db, project_id, event.actor_id, (), (event.merge_request_id,), ())

    def _may_have_pipelines(self, db: Connection, project_id: int, oid: str) -> bool:
        """Return whether a commit may have a pipeline; the repository is asked only if the project has had none."""
        if db.value(_HAS_PIPELINES, project=project_id) is not None:
            return True
        project = project_or_none(db, project_id)
        if project is None or not project.jobs_enabled or project.archived:
            return False
        try:
            repository = self._store.open(project.repository_key)
        except MissingRepository as error:
            log_failure("configuration of pipelines not found", error)
            return False
        return has_configuration(repository, project, oid)

    def _create_after_commit(
        self,
        db: Connection,
        project_id: int,
        user_id: int,
        updates: tuple[RefUpdate, ...],
        merge_request_ids: tuple[int, ...],
        options: tuple[str, ...],
    ) -> None:
        triggers = PipelineTriggers(secrets.token_hex(16), user_id, project_id, updates, merge_request_ids, options)
        # The demo's clock is in the past, and another process would run the job at once.
        run_at = add_duration(max(db.now, wall_clock()), seconds=JOB_DELAY_SECONDS)
        job_id = enqueue(db, CREATE_PIPELINES, triggers, run_at=run_at)
        db.after_transaction(partial(self._create, triggers=triggers, job_id=job_id))

    def run(self, database: Database, payload: Any) -> None:
        """Run the job."""
        self._create(database, msgspec.convert(payload, PipelineTriggers), None)

    def _create(self, database: Database, triggers: PipelineTriggers, job_id: int | None) -> None:
        requests = list(database.read(partial(_requests, triggers=triggers)))
        withdrawn = False
        if requests and job_id is not None:
            requests[-1] = msgspec.structs.replace(requests[-1], safety_job_id=job_id)
        for request in requests:
            resolved = with_merged_result(database, self._store, self._resolved(request))
            withdrawn = create_pipeline(database, self._store, resolved, save_on_errors=True) is not None
        if job_id is not None and not withdrawn:
            database.write(partial(cancel_job, job_id=job_id))

    def _resolved(self, request: PipelineRequest) -> PipelineRequest:
        """Return the request for the commit that an annotated tag points at."""
        if not request.is_tag:
            return request
        commit = commit_id_or_none(self._store.open(request.project.repository_key), request.sha)
        return msgspec.structs.replace(request, sha=commit or request.sha)


def _requests(db: Connection, triggers: PipelineTriggers) -> list[PipelineRequest]:
    project = project_or_none(db, triggers.project_id)
    if project is None or project.namespace_id is None:
        return []
    return [*_push_requests(db, triggers, project), *_merge_request_requests(db, triggers, project)]


def _push_requests(db: Connection, triggers: PipelineTriggers, project: Project) -> Iterator[PipelineRequest]:
    variables = tuple(_option_variables(triggers.options))
    problem = variable_problem([each.key for each in variables])
    if variables and not (
        variables_allowed(db, triggers.user_id, project) and _token_creates_pipelines(db, triggers, project)
    ):
        problem = NOT_ALLOWED
    for update in triggers.updates:
        yield PipelineRequest(
            project=project,
            ref=update.branch or update.tag or "",
            is_tag=update.tag is not None,
            sha=update.new,
            before_sha=update.old,
            source="push",
            user_id=triggers.user_id,
            variables=variables if problem is None else (),
            problem=problem,
            origin_key=f"{triggers.key} {update.ref}",
            skip=_SKIP_OPTION in triggers.options,
        )


def _token_creates_pipelines(db: Connection, triggers: PipelineTriggers, project: Project) -> bool:
    """Return whether the token of the push could create a pipeline with variables through the API."""
    actor = pusher_or_none(db, triggers.user_id, triggers.options)
    if actor is None or actor.restrictions.granular_scopes is None:
        return True
    try:
        find_project(db, with_push_permission(actor, "create_pipeline"), project.id)
    except (Denied, NotFound):
        return False
    return True


def _merge_request_requests(db: Connection, triggers: PipelineTriggers, project: Project) -> Iterator[PipelineRequest]:
    for merge_request_id in triggers.merge_request_ids:
        try:
            merge_request = merge_request_by_id(db, merge_request_id)
        except NotFound:  # Deleted since the event.
            continue
        if merge_request.state == "opened" and merge_request.source_project_id == project.id:
            yield merge_request_pipeline(project, merge_request, triggers.user_id, f"{triggers.key} {merge_request_id}")


def _option_variables(options: Sequence[str]) -> Iterator[GivenVariable]:
    """Yield the variables of ``git push -o ci.variable=NAME=value``."""
    for option in options:
        if option.startswith(_VARIABLE_OPTION):
            key, equals, value = option.removeprefix(_VARIABLE_OPTION).partition("=")
            if equals:
                yield GivenVariable(key, value)
