"""Merge requests that ``git push -o merge_request.create`` creates, and changes of existing ones.

They are made right after the push is recorded, before its response. A job makes them after a crash; both leave
an existing merge request as it is requested.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from ingot.accounts.users.queries import users_by_ids, users_by_usernames
from ingot.collaboration.merge_requests import create, policy
from ingot.collaboration.merge_requests.draft_titles import add_draft_prefix
from ingot.collaboration.merge_requests.editing.service import edit_merge_request
from ingot.collaboration.merge_requests.merge.context import MergeBlocked
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions
from ingot.collaboration.merge_requests.merge.perform import merge
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
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.errors import Denied, Failure, Invalid, NotFound
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import cancel_unique_job, enqueue
from ingot.core.log import log_failure
from ingot.git.history.commits import branch_tip, commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.repositories.ref_changes.ports import PushOptionResult
from ingot.repositories.ref_changes.push_options import TOKEN_OPTION, pusher_or_none, with_push_permission
from ingot.repositories.ref_changes.tables import RefIntent

APPLY_PUSH_OPTIONS = "apply_push_options"
PREFIX = "merge_request."
MAX_BRANCHES = 4
JOB_DELAY_SECONDS = 30
_TRUE = ("", "1", "true")
_DRAFT = "Draft"
_CREATE, _UPDATE = "create_merge_request", "update_merge_request"
"""Fine-grained permissions that the options need."""


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


subscriptions = Subscriptions()


@subscriptions.on(RefsChanged)
def on_refs_changed(db: Connection, event: RefsChanged) -> None:
    """Add a job that applies the options of a push, in case the process of the push cannot."""
    branches = _branches(event.updates)
    is_user = event.actor_id is not None and event.deploy_key_id is None
    if not event.push_options or not branches or not is_user or parse_push_options(event.push_options) is None:
        return
    pushed = OptionedPush(event.actor_id or 0, event.project_id, branches, _own_options(event.push_options))
    run_at = add_duration(db.now, seconds=JOB_DELAY_SECONDS)
    enqueue(db, APPLY_PUSH_OPTIONS, pushed, run_at=run_at, unique_key=_job_key(event.key))


def _job_key(key: str) -> str:
    return f"{APPLY_PUSH_OPTIONS} {key}"


def _branches(updates: Sequence[RefUpdate]) -> tuple[str, ...]:
    return tuple(update.branch for update in updates if update.branch is not None and not update.deletes)[:MAX_BRANCHES]


def _own_options(options: Sequence[str]) -> tuple[str, ...]:
    return tuple(option for option in options if option.startswith((PREFIX, TOKEN_OPTION)))


class MergeRequestPushOptions:
    """Applies the options of pushes."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    def apply(self, database: Database, intent: RefIntent, updates: Sequence[RefUpdate]) -> PushOptionResult:
        """Apply the options of a recorded push to the first branches that it updated, and withdraw the job."""
        options = msgspec.json.decode(intent.push_options, type=tuple[str, ...]) if intent.push_options else ()
        if parse_push_options(options) is None or intent.deploy_key_id is not None or intent.actor_id is None:
            return PushOptionResult()
        pushed = OptionedPush(intent.actor_id, intent.project_id, _branches(updates), _own_options(options))
        result = self._apply(database, pushed)
        database.write(partial(cancel_unique_job, unique_key=_job_key(intent.key)))
        return result

    def run(self, database: Database, payload: Any) -> None:
        """Run the job."""
        self._apply(database, msgspec.convert(payload, OptionedPush))

    def _apply(self, database: Database, pushed: OptionedPush) -> PushOptionResult:
        result = PushOptionResult()
        options = parse_push_options(pushed.options)
        actor = database.read(partial(pusher_or_none, user_id=pushed.user_id, options=pushed.options))
        if options is None or actor is None:
            return result
        for branch in pushed.branches:
            try:
                self._apply_to_branch(database, actor, pushed.project_id, branch, options, result)
            except (Failure, MergeBlocked) as error:  # The push itself has succeeded.
                log_failure("push options not applied", error, project_id=pushed.project_id)
                result.warnings.append(f"{branch}: {_reason(error)}")
        return result

    def _apply_to_branch(
        self,
        database: Database,
        actor: Actor,
        project_id: int,
        branch: str,
        options: PushOptions,
        result: PushOptionResult,
    ) -> None:
        finder = with_push_permission(actor, _CREATE if options.create else _UPDATE)
        source, target = database.read(partial(_projects, actor=finder, project_id=project_id, options=options))
        result.warnings.extend(database.read(partial(_unknown_names, target=target, options=options)))
        requested = options.target or target.default_branch or ""
        opened = database.read(partial(open_merge_requests_from, source_id=source.project.id, branches=[branch]))
        existing = [each for each in opened if each.target_project_id == target.id]
        if options.create:
            existing = [each for each in existing if each.target_branch == requested]
        if existing:
            editor = with_push_permission(actor, _UPDATE)
            for merge_request in existing:
                database.write(partial(_edit, actor=editor, merge_request=merge_request, options=options))
        elif options.create:
            existing = [self._create(database, finder, source, target, branch, requested, options)]
        else:
            raise Invalid(f"The option {PREFIX}create is required to create a merge request.")
        for merge_request in existing:
            result.merge_requests[branch] = f"{target.full_path}/-/merge_requests/{merge_request.iid}"
            if options.auto_merge or options.merge_when_pipeline_succeeds:
                merger = with_push_permission(actor, _UPDATE)
                database.read(partial(_require_merge, actor=merger, merge_request=merge_request))
                chosen = MergeOptions(waits_for_checks=options.auto_merge)
                merge(database, self._store, merger, merge_request, chosen, later=True, awaits=True)

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
        return create.create_merge_request(
            database, self._store, actor, source, params, lambda _db, _project, created: created
        )

    def _last_message(self, project: Project, branch: str) -> tuple[str, str]:
        """Return the subject and the rest of the message of a branch's last commit."""
        repository = self._store.open(project.repository_key)
        tip = branch_tip(repository, branch)
        commit = commit_or_none(repository, tip) if tip is not None else None
        subject, _, body = (commit.message if commit is not None else "").partition("\n")
        return subject.strip()[:255], body.strip()


def _reason(error: Failure) -> str:
    """Return the message for the user of a push."""
    if isinstance(error, NotFound):
        return f"{error.what or 'Object'} not found."
    if isinstance(error, Denied):
        return error.reason or "You do not have the permission for this."
    return str(error) or "The options are not valid."


def _unknown_names(db: Connection, target: Project, options: PushOptions) -> list[str]:
    """Return a warning for each user and milestone that an option names and that does not exist."""
    names = (*options.assign, *options.unassign)
    warnings = [f"User {name} not found." for name in names if not _user_ids(db, [name])]
    if options.milestone and usable_milestone_by_title(db, target, options.milestone) is None:
        warnings.append(f"Milestone {options.milestone} not found.")
    return warnings


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
    numbered = users_by_ids(db, map(number_or_none, names))
    return [user.id for user in (*named.values(), *numbered.values())]


def _milestone_id(db: Connection, project: Project, title: str) -> Any:
    milestone = usable_milestone_by_title(db, project, title) if title else None
    return UNSET if milestone is None else milestone.id
