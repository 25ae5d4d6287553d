"""Merge requests that ``git push -o merge_request.create`` creates, and changes of existing ones.

They are made right after the transaction of the push, before its response. A job makes them after a crash; both leave
an existing merge request as it is requested.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from ingot.accounts.users.actors import active_actor
from ingot.accounts.users.queries import users_by_ids, users_by_usernames
from ingot.collaboration.merge_requests import policy, staged
from ingot.collaboration.merge_requests.draft_titles import add_draft_prefix
from ingot.collaboration.merge_requests.editing.service import edit_merge_request
from ingot.collaboration.merge_requests.merge.merge_options import DEFAULT_MERGE_OPTIONS
from ingot.collaboration.merge_requests.merge.staged import MergeBlocked, merge
from ingot.collaboration.merge_requests.params import CreateMergeRequest, EditMergeRequest
from ingot.collaboration.merge_requests.queries import (
    assignees_and_reviewers,
    find_merge_request,
    open_merge_requests_from,
)
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.milestones.queries import usable_milestone_by_title
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import cancel_job, enqueue
from ingot.errors import Failure
from ingot.git.history.commits import branch_tip, commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.log import log_failure
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.events import RefsChanged

APPLY_PUSH_OPTIONS = "apply_push_options"
PREFIX = "merge_request."
MAX_BRANCHES = 4
JOB_DELAY_SECONDS = 30
_TRUE = ("", "1", "true")
_DRAFT = "Draft"


class PushOptions(msgspec.Struct, frozen=True):
    """The options of a push that concern merge requests."""

    create: bool = False
    target: str = ""
    target_project: str = ""
    title: str = ""
    description: str = ""
    draft: bool = False
    auto_merge: bool = False
    merge_when_pipeline_succeeds: bool = False
    remove_source_branch: bool = False
    squash: bool = False
    milestone: str = ""
    label: tuple[str, ...] = ()
    unlabel: tuple[str, ...] = ()
    assign: tuple[str, ...] = ()
    unassign: tuple[str, ...] = ()


class OptionedPush(msgspec.Struct, frozen=True):
    """Payload of the job: branches that a user pushed with options."""

    user_id: int
    project_id: int
    branches: tuple[str, ...]
    options: tuple[str, ...]


def parse_push_options(options: Sequence[str]) -> PushOptions | None:
    """Return the options ``merge_request.name=value``; None if there are none. Unknown names are ignored."""
    values: dict[str, Any] = {}
    for option in options:
        name, _, value = option.removeprefix(PREFIX).partition("=")
        if not option.startswith(PREFIX) or name not in PushOptions.__struct_fields__:
            continue
        default = getattr(_NO_OPTIONS, name)
        if isinstance(default, tuple):
            values[name] = (*values.get(name, ()), value)
        elif isinstance(default, bool):
            values[name] = value.lower() in _TRUE
        else:
            values[name] = value.replace("\\n", "\n") if name == "description" else value
    return PushOptions(**values) if values else None


_NO_OPTIONS = PushOptions()


class MergeRequestPushOptions:
    """Applies the options of pushes."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    @property
    def subscriptions(self) -> Subscriptions:
        """Subscription to pushes."""
        subscriptions = Subscriptions()
        subscriptions.on(RefsChanged)(self.on_refs_changed)
        return subscriptions

    def on_refs_changed(self, db: Connection, event: RefsChanged) -> None:
        """Apply the options of a push by a user to the first branches that it updated."""
        branches = [update.branch for update in event.updates if update.branch is not None and not update.deletes]
        is_user = event.actor_id is not None and event.deploy_key_id is None
        if not event.push_options or not branches or not is_user or parse_push_options(event.push_options) is None:
            return
        options = tuple(option for option in event.push_options if option.startswith(PREFIX))
        pushed = OptionedPush(event.actor_id or 0, event.project_id, tuple(branches[:MAX_BRANCHES]), options)
        job_id = enqueue(db, APPLY_PUSH_OPTIONS, pushed, run_at=add_duration(db.now, seconds=JOB_DELAY_SECONDS))
        db.follow_up(partial(self._apply_now, pushed=pushed, job_id=job_id))

    def _apply_now(self, database: Database, pushed: OptionedPush, job_id: int) -> None:
        self._apply(database, pushed)
        database.write(partial(cancel_job, job_id=job_id))

    def run(self, database: Database, payload: Any) -> None:
        """Run the job."""
        self._apply(database, msgspec.convert(payload, OptionedPush))

    def _apply(self, database: Database, pushed: OptionedPush) -> None:
        options = parse_push_options(pushed.options)
        actor = database.read(partial(active_actor, user_id=pushed.user_id))
        if options is None or actor is None:
            return
        for branch in pushed.branches:
            try:
                self._apply_to_branch(database, actor, pushed.project_id, branch, options)
            except (Failure, MergeBlocked) as error:  # The push itself has succeeded.
                log_failure("push options not applied", error, project_id=pushed.project_id)

    def _apply_to_branch(
        self, database: Database, actor: Actor, project_id: int, branch: str, options: PushOptions
    ) -> None:
        source, target = database.read(partial(_projects, actor=actor, project_id=project_id, options=options))
        requested = options.target or target.default_branch or ""
        opened = database.read(partial(open_merge_requests_from, source_id=source.project.id, branches=[branch]))
        existing = [each for each in opened if each.target_project_id == target.id]
        if options.create:
            existing = [each for each in existing if each.target_branch == requested]
        if existing:
            for merge_request in existing:
                database.write(partial(_edit, actor=actor, merge_request=merge_request, options=options))
        elif options.create:
            existing = [self._create(database, actor, source, target, branch, requested, options)]
        if options.auto_merge or options.merge_when_pipeline_succeeds:
            for merge_request in existing:
                database.read(partial(_require_merge, actor=actor, merge_request=merge_request))
                merge(database, self._store, actor, merge_request, DEFAULT_MERGE_OPTIONS, later=True)

    def _create(
        self,
        database: Database,
        actor: Actor,
        source: ProjectScope,
        target: Project,
        branch: str,
        target_branch: str,
        options: PushOptions,
    ) -> MergeRequest:
        require(policy.may_offer_branches(actor, source.access, source))
        subject, body = self._last_message(source.project, branch)
        title = options.title or subject or branch
        params = CreateMergeRequest(
            source_branch=branch,
            target_branch=target_branch,
            title=add_draft_prefix(title, _DRAFT) if options.draft else title,
            target_project_id=target.id,
            description=options.description or body,
            labels=list(options.label) or UNSET,
            remove_source_branch=options.remove_source_branch or UNSET,
            squash=options.squash or UNSET,
        )
        params.assignee_ids, params.milestone_id = database.read(
            lambda db: (_user_ids(db, options.assign) or UNSET, _milestone_id(db, target, options.milestone))
        )
        return staged.create_merge_request(
            database, self._store, actor, source, params, lambda _db, _project, created: created
        )

    def _last_message(self, project: Project, branch: str) -> tuple[str, str]:
        """Return the subject and the rest of the message of a branch's last commit."""
        repository = self._store.open(project.repository_key)
        tip = branch_tip(repository, branch)
        commit = commit_or_none(repository, tip) if tip is not None else None
        subject, _, body = (commit.message if commit is not None else "").partition("\n")
        return subject.strip()[:255], body.strip()


def _projects(db: Connection, actor: Actor, project_id: int, options: PushOptions) -> tuple[ProjectScope, Project]:
    access, project = find_project(db, actor, project_id)
    target = find_project(db, actor, options.target_project)[1] if options.target_project else project
    return ProjectScope(access, project), target


def _edit(db: Connection, actor: Actor, merge_request: MergeRequest, options: PushOptions) -> None:
    """Change the attributes that the options name."""
    lookup = find_merge_request(db, actor, str(merge_request.target_project_id), str(merge_request.iid))
    require(policy.may_edit_merge_request(actor, lookup.access, lookup))
    title = options.title or merge_request.title
    params = EditMergeRequest(
        title=add_draft_prefix(title, _DRAFT) if options.draft else title,
        add_labels=list(options.label) or None,
        remove_labels=list(options.unlabel) or None,
        milestone_id=_milestone_id(db, lookup.project, options.milestone),
    )
    if options.description:
        params.description = options.description
    if options.target and not options.create:
        params.target_branch = options.target
    if options.remove_source_branch:
        params.remove_source_branch = True
    if options.squash:
        params.squash = True
    if options.assign or options.unassign:
        removed = _user_ids(db, options.unassign)
        assignees = [*assignees_and_reviewers(db, merge_request.id)[0], *_user_ids(db, options.assign)]
        params.assignee_ids = [user_id for user_id in dict.fromkeys(assignees) if user_id not in removed]
    edit_merge_request(db, actor, lookup, params, None)


def _require_merge(db: Connection, actor: Actor, merge_request: MergeRequest) -> None:
    lookup = find_merge_request(db, actor, str(merge_request.target_project_id), str(merge_request.iid))
    rules = branch_rules(db, lookup.project.id)
    require(policy.may_merge(actor, lookup.access, policy.MergeCandidate(lookup, rules)))


def _user_ids(db: Connection, names: Sequence[str]) -> list[int]:
    """Return the ids of users given by username or id."""
    named = users_by_usernames(db, [name.removeprefix("@") for name in names if not name.isdigit()])
    numbered = users_by_ids(db, [int(name) for name in names if name.isdigit() and len(name) < 19])
    return [user.id for user in (*named.values(), *numbered.values())]


def _milestone_id(db: Connection, project: Project, title: str) -> Any:
    milestone = usable_milestone_by_title(db, project, title) if title else None
    return UNSET if milestone is None else milestone.id
