"""Changing references and rows together: git works between short transactions, and a crash is settled by looking.

First an intent is committed, then git swaps the references from the values that the intent names, then one
transaction records what happened and forgets the intent. Whoever finds an open intent compares it with the
references: those that have the new value have happened.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.times import Timestamp, later
from ingot.errors import Conflict, Denied, Invalid, Unavailable
from ingot.events.bus import emit
from ingot.git.ancestry import is_ancestor, new_among
from ingot.git.commits import NO_OID
from ingot.git.counting import what_came
from ingot.git.faults import MissingRepository
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.git.updating import RefInTheWay, RefMoved, RefUpdate, adopt_head, break_stale_locks, update_refs
from ingot.jobs.queue import enqueue
from ingot.projects.queries import find_project, project_or_none
from ingot.projects.tables import Project
from ingot.repository.changes.events import CommitsAwaited
from ingot.repository.changes.policy import KEPT_DEFAULT, MOST_REFS, Ground, refusal
from ingot.repository.changes.queries import (
    held_default_branch,
    is_by_others,
    open_intents,
    open_intents_in,
    updates_of,
)
from ingot.repository.changes.service import After, drop_intent, open_intent, record
from ingot.repository.changes.tables import RefIntent
from ingot.repository.protection.queries import branch_rules, tag_rules

SETTLE_CHANGES = "settle changes"
FORGET_AFTER_SECONDS = 600
"""Longer than any process takes from its intent to its references."""
_MANY = 50
"""So many references are faster read all at once than one by one."""
MOST_DESCRIBED = 20
"""Of so many references in one push it is said what came by them."""
_KINDS = {"heads": "branch", "tags": "tag"}
Along = Callable[[Connection], None]
Standing = Callable[[Connection], tuple[Access, Project]]
"""What the caller holds in the project at this moment; raises where it is hidden from them."""


def standing_of(actor: Actor, project_id: int) -> Standing:
    """The standing of a user."""
    return lambda db: find_project(db, actor, project_id)


def change_refs(
    database: Database,
    repository: Repository,
    actor: Actor,
    project: Project,
    updates: Sequence[RefUpdate],
    *,
    merges: bool = False,
    along: Along | None = None,
) -> None:
    """Let the API or a page change references, all or none; the objects must be there already.

    Raises ``Denied`` with the gate's sentence, and ``Conflict`` where somebody else was first. ``along`` is done in the
    transaction of the intent, when all that led to the present references is recorded; what it raises stops the change.
    """
    standing = standing_of(actor, project.id)
    intent = pass_gate(database, repository, actor, standing, updates, via="api", merges=merges, along=along)
    try:
        update_refs(repository, updates)
    except RefMoved:
        database.write(lambda db: drop_intent(db, intent.key))
        raise Conflict("The branch has changed meanwhile. Please try again.") from None
    except RefInTheWay as clash:
        database.write(lambda db: drop_intent(db, intent.key))
        raise Invalid(_clash_sentence(clash)) from None
    finish(database, repository, intent, updates)


def pass_gate(
    database: Database,
    repository: Repository,
    actor: Actor,
    standing: Standing,
    updates: Sequence[RefUpdate],
    *,
    via: str,
    merges: bool = False,
    env: Mapping[str, str] | None = None,
    along: Along | None = None,
) -> RefIntent:
    """Let changes through, all or none, with an intent that is committed; else raise ``Denied``.

    ``env`` tells git where the objects of a push lie that is not accepted yet.
    """
    if len(updates) > MOST_REFS:
        raise Denied(f"A push may change {MOST_REFS} references at most.")

    def look(db: Connection) -> Ground:
        here, project = standing(db)
        rules = branch_rules(db, project.id), tag_rules(db, project.id)
        return Ground(actor, here, project, *rules, by_git=via in ("http", "ssh"), merges=merges)

    ground = database.read(look)
    for update in updates:
        denied = refusal(ground, update, lambda update: not is_ancestor(repository, update.old, update.new, env))
        if denied is not None:
            raise Denied(denied if len(updates) == 1 else f"{update.ref}: {denied}")
    settle_predecessors(database, repository, ground.project.id, updates)
    break_stale_locks(repository, [update.ref for update in updates])
    actor_id = actor.user_id or None
    leaving = {update.branch for update in updates if update.deletes and update.branch is not None}

    def write(db: Connection) -> RefIntent:
        if along is not None:
            along(db)
        # Looked at again, since somebody may have chosen it as the default one meanwhile.
        if leaving and held_default_branch(db, ground.project.id) in leaving:
            raise Denied(KEPT_DEFAULT)
        return open_intent(db, ground.project.id, actor_id, via, updates)

    return database.write(write)


def check_claims(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Refuse changes that do not begin at what is there; else raise nothing.

    Git clients say themselves from where they change, and what they say decides what they may. Git compares that
    with the reference only later, and of a deletion not even then where it names an object that is not there.
    """
    if len({update.ref for update in updates}) != len(updates):
        raise Denied("A push may name each branch or tag only once.")
    refs = repository.refs() if len(updates) > _MANY else None
    for update in updates:
        current = repository.tip(update.ref) if refs is None else refs.get(update.ref.encode())
        if (current or NO_OID) != update.old:
            raise Denied(f"{update.ref} has changed meanwhile. Fetch it and push again.")
        if update.new == update.old:
            raise Denied(f"{update.ref} would not change.")


def finish(database: Database, repository: Repository, intent: RefIntent, happened: Sequence[RefUpdate]) -> None:
    """Record what git has changed; when this returns, every other call shows it."""
    after = _after(database, repository, intent, happened)
    database.write(lambda db: record(db, intent, happened, after))


def conclude(database: Database, repository: Repository, intent: RefIntent) -> None:
    """Whoever was to change references was cut off: what it changed is seen, and nothing will follow."""
    happened = _happened(database, repository, intent)
    if happened:
        finish(database, repository, intent, happened)
    else:
        forget(database, intent)


def forget(database: Database, intent: RefIntent) -> None:
    """Nothing of an intent has happened, and nothing will."""
    database.write(lambda db: drop_intent(db, intent.key))


def settle_predecessors(
    database: Database, repository: Repository, project_id: int, updates: Sequence[RefUpdate]
) -> None:
    """Record what brought a reference to the value from which it is changed now, where a crash cut that off.

    Thereafter its value may never be seen again, and nobody could tell whether it had it.
    """
    before = {(update.ref, update.old) for update in updates}
    for intent in database.read(partial(open_intents_in, project_id=project_id)):
        if any((update.ref, update.new) in before for update in updates_of(intent)):
            settle(database, repository, intent)


def settle(database: Database, repository: Repository, intent: RefIntent) -> None:
    """Record what of an open intent has happened; forget it where all did, or nobody can be at it any more."""
    happened = _happened(database, repository, intent)
    complete = len(happened) == len(updates_of(intent)) or intent.created_at < _too_old(database.clock())
    after = _after(database, repository, intent, happened)
    database.write(lambda db: record(db, intent, happened, after, complete=complete))


def ask_to_settle(db: Connection) -> None:
    """Let a job settle what is open, if anything is."""
    if open_intents(db):
        enqueue(db, SETTLE_CHANGES, None, unique_key=SETTLE_CHANGES)


def settle_all(database: Database, store: Store) -> None:
    """Settle every open intent: after a start, and from time to time.

    What cannot be settled stays open and is told at the end: it must not keep the others from being settled.
    """
    failed: Exception | None = None
    for intent in database.read(open_intents):
        try:
            _settle_one(database, store, intent)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - Whatever is wrong with one change, the others are whole.
            failed = error
    if failed is not None:
        raise failed


def _settle_one(database: Database, store: Store, intent: RefIntent) -> None:
    project = database.read(partial(project_or_none, project_id=intent.project_id))
    try:
        if project is None:
            forget(database, intent)
        else:
            settle(database, store.open(project.repository_key), intent)
    except (MissingRepository, FileNotFoundError):
        forget(database, intent)


def _clash_sentence(clash: RefInTheWay) -> str:
    _, kind, name = (clash.other or "//").split("/", 2)
    if kind not in _KINDS:  # Gone meanwhile.
        return "Its name is a part of another one's, or the other way round"
    return f"'{clash.wanted.split('/', 2)[2]}' cannot exist beside the {_KINDS[kind]} '{name}'"


def _too_old(now: Timestamp) -> Timestamp:
    return later(now, seconds=-FORGET_AFTER_SECONDS)


def _happened(database: Database, repository: Repository, intent: RefIntent) -> list[RefUpdate]:
    there = [update for update in updates_of(intent) if (repository.tip(update.ref) or NO_OID) == update.new]
    return database.read(lambda db: [update for update in there if not is_by_others(db, intent, update)])


def _after(database: Database, repository: Repository, intent: RefIntent, happened: Sequence[RefUpdate]) -> After:
    project = database.read(partial(project_or_none, project_id=intent.project_id))
    created = [update.branch for update in happened if update.creates and update.branch is not None]
    # Only a project that was empty takes another default branch; else its row says where HEAD points.
    first = created if project is not None and project.empty else []
    head = adopt_head(repository, first)
    brought = {update.ref: what_came(repository, update, head) for update in happened[:MOST_DESCRIBED]}
    arrived = _arrived(database, repository, intent.project_id, happened)
    return After(head, lambda: not repository.branches_exist(), brought, arrived)


def _arrived(
    database: Database, repository: Repository, project_id: int, happened: Sequence[RefUpdate]
) -> dict[str, frozenset[str]]:
    """Those of the commits that somebody waits for which are new on a branch."""
    awaited: dict[str, set[str]] = {}
    moved = tuple(update for update in happened if update.branch is not None and not update.deletes)
    if moved:
        database.read(lambda db: emit(db, CommitsAwaited(project_id, moved, awaited)))
    return {
        update.branch: found
        for update in moved
        if update.branch is not None
        and awaited.get(update.branch)
        and (found := new_among(repository, update.old, update.new, awaited[update.branch]))
    }
