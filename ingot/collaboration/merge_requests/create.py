"""Creation of merge requests: git compares the branches first, then one transaction writes the rows."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from ingot.collaboration.merge_requests import policy, service
from ingot.collaboration.merge_requests.params import CreateMergeRequest
from ingot.collaboration.merge_requests.quick_actions.definitions import MERGE_REQUEST_COMMANDS
from ingot.collaboration.merge_requests.quick_actions.execute import create_merge_request as create_with_commands
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.versions.events import VersionCollected
from ingot.collaboration.merge_requests.versions.inspection import VersionComparison, compare_with_target
from ingot.collaboration.merge_requests.versions.service import add_version
from ingot.collaboration.merge_requests.versions.source_tracker import enqueue_collection, source_head_of
from ingot.collaboration.planning.scope import ProjectScope
from ingot.collaboration.planning.service import validate_texts
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.api.params import MissingParameter
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Failure, Invalid
from ingot.core.events.bus import emit
from ingot.core.markup.quick_actions import Command, extract_commands
from ingot.git.history.commits import branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_request_commits import update_head_ref
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.queries import find_project, fork_ancestry
from ingot.projects.projects.tables import Project

T = TypeVar("T")


class InvalidMergeRequest(Failure):
    """A well-formed request that cannot become a merge request."""


class MergeRequestSides(NamedTuple):
    """Source and target project, and the caller's access to the target."""

    source: Project
    target: Project
    target_access: Access


def create_merge_request(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    lookup: ProjectScope,
    params: CreateMergeRequest,
    show: Callable[[Connection, Project, MergeRequest], T],
) -> T:
    """Create a merge request from a branch of the project; return the result of ``show``."""
    _validate(params)
    params, commands = _extract_description_commands(database, store, actor, lookup, params)
    sides = database.read(lambda db: _sides(db, actor, lookup, params), ahead_of_change=True)
    comparison = _compare_sides(store, sides, params)

    def write(db: Connection) -> tuple[MergeRequest, T]:
        target_access, target = find_project(db, actor, sides.target.id)
        require(policy.may_receive_merge_request(actor, target_access, target))
        attributes = sides.source, target, params, comparison.head_oid
        created = create_with_commands(db, actor, target_access, *attributes, commands)
        add_version(db, created.id, actor.user_id, comparison)
        emit(db, VersionCollected(created.id, actor.user_id, comparison, None))
        enqueue_collection(db, created.id)
        return created, show(db, target, created)

    created, view = database.write(write)
    update_head_ref(store.open(sides.target.repository_key), created.iid, lambda: source_head_of(database, created.id))
    return view


def _validate(params: CreateMergeRequest) -> None:
    for name in ("source_branch", "target_branch", "title"):
        if not getattr(params, name):
            raise MissingParameter(name)
    validate_texts(params.title, params.description)


def _extract_description_commands(
    database: Database, store: RepositoryStore, actor: Actor, lookup: ProjectScope, params: CreateMergeRequest
) -> tuple[CreateMergeRequest, Sequence[Command]]:
    """Return the parameters without the quick actions of the description, and these.

    A ``/target_branch`` command sets the target branch.
    """
    if not params.description or "/" not in params.description:
        return params, ()
    text, commands = extract_commands(params.description, MERGE_REQUEST_COMMANDS.names)
    params = msgspec.structs.replace(params, description=text)
    branches = [command.argument for command in commands if command.name == "target_branch"]
    if not branches:
        return params, commands
    target_access, target = database.read(
        lambda db: find_project(db, actor, params.target_project_id or lookup.project.id)
    )
    require(may_download_code(actor, target_access, target))
    if database.read(lambda db: MERGE_REQUEST_COMMANDS.permitted_actor(db, actor, target, "target_branch")) is None:
        return params, commands
    repository, source = store.open(target.repository_key), params.source_branch
    for branch in reversed(branches):
        if branch_tip(repository, branch) is not None and (target.id, branch) != (lookup.project.id, source):
            return msgspec.structs.replace(params, target_branch=branch), commands
    return params, commands


def _sides(db: Connection, actor: Actor, lookup: ProjectScope, params: CreateMergeRequest) -> MergeRequestSides:
    source = lookup.project
    target_access, target = find_project(db, actor, params.target_project_id or source.id)
    require(may_download_code(actor, target_access, target))
    if not target.merge_requests_enabled:
        raise InvalidMergeRequest("The target project does not take merge requests")
    require(policy.may_receive_merge_request(actor, target_access, target))
    if target.id != source.id and target.id not in fork_ancestry(db, source.id):
        raise InvalidMergeRequest("Source project is not a fork of the target project")
    if target.id == source.id and params.source_branch == params.target_branch:
        raise InvalidMergeRequest("You can not use same project/branch for source and target")
    service.require_no_open_duplicate(db, source.id, params.source_branch, target.id, params.target_branch)
    return MergeRequestSides(source, target, target_access)


def _compare_sides(store: RepositoryStore, sides: MergeRequestSides, params: CreateMergeRequest) -> VersionComparison:
    source, target = store.open(sides.source.repository_key), store.open(sides.target.repository_key)
    head = branch_tip(source, params.source_branch)
    if head is None:
        raise Invalid(source_branch=["does not exist"])
    if branch_tip(target, params.target_branch) is None:
        raise Invalid(target_branch=["does not exist"])
    return compare_with_target(None if source.path == target.path else source, target, head, params.target_branch)
