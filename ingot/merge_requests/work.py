"""Opening merge requests: what git has to say first, then one transaction."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.access.rules import require
from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import Failure, Invalid
from ingot.events.bus import emit
from ingot.git.commits import branch_tip
from ingot.git.offered import point_head
from ingot.git.store import Store
from ingot.issues.policy import Place
from ingot.issues.service import validate_texts
from ingot.markup.commands import Command, commands_in
from ingot.merge_requests import policy, service
from ingot.merge_requests.commands.known import MERGE_REQUESTS
from ingot.merge_requests.commands.obeying import create_merge_request as create_obeying
from ingot.merge_requests.params import CreateMergeRequest
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.versions.events import VersionCollected
from ingot.merge_requests.versions.looking import Looked, look
from ingot.merge_requests.versions.service import add_version
from ingot.merge_requests.versions.tracking import ask_to_collect, head_of
from ingot.projects.policy import may_download_code
from ingot.projects.queries import find_project, fork_line
from ingot.projects.tables import Project


class Unsuitable(Failure):
    """What was sent is well formed, but can be no merge request."""


class Sides(NamedTuple):
    """From where to where, and what the caller holds there."""

    source: Project
    target: Project
    there: Access


def create_merge_request(
    database: Database,
    store: Store,
    actor: Actor,
    place: Place,
    wanted: CreateMergeRequest,
    show: Callable[[Connection, Project, MergeRequest], object],
) -> object:
    """Open a merge request from a branch of the project at hand; gives what ``show`` makes of it."""
    _validate(wanted)
    wanted, commands = _told(database, store, actor, place, wanted)
    sides = database.read(lambda db: _sides(db, actor, place, wanted), ahead_of_change=True)
    looked = _look(store, sides, wanted)

    def write(db: Connection) -> tuple[MergeRequest, object]:
        there, target = find_project(db, actor, sides.target.id)
        require(policy.may_receive_merge_request(actor, there, target))
        about = sides.source, target, wanted, looked.head_oid
        made = create_obeying(db, actor, there, *about, commands)
        add_version(db, made.id, actor.user_id, looked)
        emit(db, VersionCollected(made.id, actor.user_id, looked, None))
        ask_to_collect(db, made.id)
        return made, show(db, target, made)

    made, shown = database.write(write)
    point_head(store.open(sides.target.repository_key), made.iid, lambda: head_of(database, made.id))
    return shown


def _validate(wanted: CreateMergeRequest) -> None:
    for name in ("source_branch", "target_branch", "title"):
        if not getattr(wanted, name):
            raise Missing(name)
    validate_texts(wanted.title, wanted.description)


def _told(
    database: Database, store: Store, actor: Actor, place: Place, wanted: CreateMergeRequest
) -> tuple[CreateMergeRequest, Sequence[Command]]:
    """What is wanted without the commands in its description, and these; the branch that one names is the target."""
    if not wanted.description or "/" not in wanted.description:
        return wanted, ()
    text, commands = commands_in(wanted.description, MERGE_REQUESTS.names)
    wanted = msgspec.structs.replace(wanted, description=text)
    named = [command.argument for command in commands if command.name == "target_branch"]
    if not named:
        return wanted, commands
    there, target = database.read(lambda db: find_project(db, actor, wanted.target_project_id or place.project.id))
    require(may_download_code(actor, there, target))
    repository, source = store.open(target.repository_key), wanted.source_branch
    for branch in reversed(named):
        if branch_tip(repository, branch) is not None and (target.id, branch) != (place.project.id, source):
            return msgspec.structs.replace(wanted, target_branch=branch), commands
    return wanted, commands


def _sides(db: Connection, actor: Actor, place: Place, wanted: CreateMergeRequest) -> Sides:
    source = place.project
    there, target = find_project(db, actor, wanted.target_project_id or source.id)
    require(may_download_code(actor, there, target))
    if not target.merge_requests_enabled:
        raise Unsuitable("The target project does not take merge requests")
    require(policy.may_receive_merge_request(actor, there, target))
    if target.id != source.id and target.id not in fork_line(db, source.id):
        raise Unsuitable("Source project is not a fork of the target project")
    if target.id == source.id and wanted.source_branch == wanted.target_branch:
        raise Unsuitable("You can not use same project/branch for source and target")
    service.refuse_twin(db, source.id, wanted.source_branch, target.id, wanted.target_branch)
    return Sides(source, target, there)


def _look(store: Store, sides: Sides, wanted: CreateMergeRequest) -> Looked:
    source, target = store.open(sides.source.repository_key), store.open(sides.target.repository_key)
    head = branch_tip(source, wanted.source_branch)
    if head is None:
        raise Invalid(source_branch=["does not exist"])
    if branch_tip(target, wanted.target_branch) is None:
        raise Invalid(target_branch=["does not exist"])
    return look(None if source.path == target.path else source, target, head, wanted.target_branch)
