"""Changing references and rows together: git works between short transactions, and a crash is settled by looking.

First an intent is committed, then git swaps the references from the values that the intent names, then one
transaction records what happened and forgets the intent. Whoever finds an open intent compares it with the
references: those that have the new value have happened.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.jobs.queue import enqueue
from ingot.errors import Conflict, Denied, Invalid, Unavailable
from ingot.git.core.errors import MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.ancestry import is_ancestor, new_commits_among
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.change_summary import summarize_push
from ingot.git.writing.ref_updates import (
    RefMoved,
    RefNameConflict,
    RefUpdate,
    break_stale_locks,
    set_first_head,
    update_refs,
)
from ingot.log import log_failure
from ingot.projects.projects.queries import find_project, project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.queries import branch_rules, tag_rules
from ingot.repositories.ref_changes.policy import DEFAULT_BRANCH_REFUSAL, MAX_REFS, RefUpdateContext, ref_update_refusal
from ingot.repositories.ref_changes.ports import AwaitedCommits
from ingot.repositories.ref_changes.queries import (
    intent_updates,
    is_recorded_by_others,
    lock_default_branch,
    open_intents,
    open_intents_in,
)
from ingot.repositories.ref_changes.service import RepositoryState, delete_intent, open_intent, record_ref_updates
from ingot.repositories.ref_changes.tables import RefIntent

RECONCILE_CHANGES = "settle changes"
INTENT_EXPIRY_SECONDS = 600
"""Longer than any process takes from its intent to its references."""
_READ_ALL_REFS_THRESHOLD = 50
"""So many references are faster read all at once than one by one."""
MAX_DESCRIBED_REFS = 20
"""Of so many references in one push it is said what came by them."""
_REF_KINDS = {"heads": "branch", "tags": "tag"}
IntentCallback = Callable[[Connection], None]
AccessLookup = Callable[[Connection], tuple[Access, Project]]
"""What the caller holds in the project at this moment; raises where it is hidden from them."""


def access_lookup(actor: Actor, project_id: int) -> AccessLookup:
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
    along: IntentCallback | None = None,
    access: Access | None = None,
) -> None:
    """Change references for the API or a page, all or none; the objects must be there already.

    Raises ``Denied`` with the gate's sentence, and ``Conflict`` if another change was first. ``along`` runs in the
    transaction of the intent, when all that led to the present references is recorded; what it raises stops the change.
    A caller that has just looked up the actor's ``access`` to the project passes it, so that the gate need not.
    """
    standing = access_lookup(actor, project.id) if access is None else lambda _: (access, project)
    intent = begin_ref_updates(database, repository, actor, standing, updates, via="api", merges=merges, along=along)
    try:
        update_refs(repository, updates)
    except RefMoved:
        database.write(lambda db: delete_intent(db, intent.key))
        raise Conflict("The branch has changed meanwhile. Please try again.") from None
    except RefNameConflict as clash:
        database.write(lambda db: delete_intent(db, intent.key))
        raise Invalid(_ref_conflict_message(clash)) from None
    finish_ref_updates(database, repository, intent, updates, project)


def begin_ref_updates(
    database: Database,
    repository: Repository,
    actor: Actor,
    standing: AccessLookup,
    updates: Sequence[RefUpdate],
    *,
    via: str,
    merges: bool = False,
    env: Mapping[str, str] | None = None,
    along: IntentCallback | None = None,
) -> RefIntent:
    """Let changes through, all or none, with an intent that is committed; else raise ``Denied``.

    ``env`` tells git where the objects of a push lie that is not accepted yet.
    """
    if len(updates) > MAX_REFS:
        raise Denied(f"A push may change {MAX_REFS} references at most.")

    def look(db: Connection) -> RefUpdateContext:
        access, project = standing(db)
        rules = branch_rules(db, project.id), tag_rules(db, project.id)
        return RefUpdateContext(actor, access, project, *rules, from_git_client=via in ("http", "ssh"), merges=merges)

    ground = database.read(look)
    for update in updates:
        denied = ref_update_refusal(
            ground, update, lambda update: not is_ancestor(repository, update.old, update.new, env)
        )
        if denied is not None:
            raise Denied(denied if len(updates) == 1 else f"{update.ref}: {denied}")
    reconcile_predecessors(database, repository, ground.project.id, updates)
    break_stale_locks(repository, [update.ref for update in updates])
    actor_id = actor.user_id or None
    leaving = {update.branch for update in updates if update.deletes and update.branch is not None}

    def write(db: Connection) -> RefIntent:
        if along is not None:
            along(db)
        # Looked at again, since somebody may have chosen it as the default one meanwhile.
        if leaving and lock_default_branch(db, ground.project.id) in leaving:
            raise Denied(DEFAULT_BRANCH_REFUSAL)
        return open_intent(db, ground.project.id, actor_id, via, updates)

    return database.write(write)


def check_old_values(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Refuse changes that do not begin at what is there; else raise nothing.

    Git clients say themselves from where they change, and what they say decides what they may. Git compares that
    with the reference only later, and of a deletion not even then where it names an object that is not there.
    """
    if len({update.ref for update in updates}) != len(updates):
        raise Denied("A push may name each branch or tag only once.")
    refs = repository.refs() if len(updates) > _READ_ALL_REFS_THRESHOLD else None
    for update in updates:
        current = repository.tip(update.ref) if refs is None else refs.get(update.ref.encode())
        if (current or NO_OID) != update.old:
            raise Denied(f"{update.ref} has changed meanwhile. Fetch it and push again.")
        if update.new == update.old:
            raise Denied(f"{update.ref} would not change.")


def finish_ref_updates(
    database: Database,
    repository: Repository,
    intent: RefIntent,
    happened: Sequence[RefUpdate],
    project: Project | None = None,
) -> None:
    """Record what git has changed; when this returns, every other call shows it.

    Without ``project``, its row is looked up.
    """
    after = _repository_state(database, repository, intent, happened, project)
    database.write(lambda db: record_ref_updates(db, intent, happened, after))


def finish_interrupted_intent(database: Database, repository: Repository, intent: RefIntent) -> None:
    """Whoever was to change references was cut off: what it changed is seen, and nothing will follow."""
    happened = _completed_updates(database, repository, intent)
    if happened:
        finish_ref_updates(database, repository, intent, happened)
    else:
        discard_intent(database, intent)


def discard_intent(database: Database, intent: RefIntent) -> None:
    """Nothing of an intent has happened, and nothing will."""
    database.write(lambda db: delete_intent(db, intent.key))


def reconcile_predecessors(
    database: Database, repository: Repository, project_id: int, updates: Sequence[RefUpdate]
) -> None:
    """Record what brought a reference to the value from which it is changed now, where a crash cut that off.

    Thereafter its value may never be seen again, and nobody could tell whether it had it.
    """
    before = {(update.ref, update.old) for update in updates}
    for intent in database.read(partial(open_intents_in, project_id=project_id)):
        if any((update.ref, update.new) in before for update in intent_updates(intent)):
            reconcile_intent(database, repository, intent)


def reconcile_intent(database: Database, repository: Repository, intent: RefIntent) -> None:
    """Record what of an open intent has happened; forget it where all did, or nobody can be at it any more."""
    happened = _completed_updates(database, repository, intent)
    complete = len(happened) == len(intent_updates(intent)) or intent.created_at < _expiry_time(database.clock())
    after = _repository_state(database, repository, intent, happened)
    database.write(lambda db: record_ref_updates(db, intent, happened, after, complete=complete))


def enqueue_reconciliation(db: Connection) -> None:
    """Let a job settle what is open, if anything is."""
    if open_intents(db):
        enqueue(db, RECONCILE_CHANGES, None, unique_key=RECONCILE_CHANGES)


def reconcile_all(database: Database, store: RepositoryStore) -> None:
    """Settle every open intent: after a start, and from time to time.

    What cannot be settled stays open and is told at the end: it must not keep the others from being settled.
    """
    failed: Exception | None = None
    for intent in database.read(open_intents):
        try:
            _reconcile_one(database, store, intent)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - Whatever is wrong with one change, the others are whole.
            log_failure("change not settled", error, intent=intent.id)
            failed = error
    if failed is not None:
        raise failed


def _reconcile_one(database: Database, store: RepositoryStore, intent: RefIntent) -> None:
    project = database.read(partial(project_or_none, project_id=intent.project_id))
    try:
        if project is None:
            discard_intent(database, intent)
        else:
            reconcile_intent(database, store.open(project.repository_key), intent)
    except (MissingRepository, FileNotFoundError):  # Nothing is left that could be recorded.
        discard_intent(database, intent)


def _ref_conflict_message(clash: RefNameConflict) -> str:
    _, kind, name = (clash.other or "//").split("/", 2)
    if kind not in _REF_KINDS:  # Gone meanwhile.
        return "Its name is a part of another one's, or the other way round"
    return f"'{clash.wanted.split('/', 2)[2]}' cannot exist beside the {_REF_KINDS[kind]} '{name}'"


def _expiry_time(now: Timestamp) -> Timestamp:
    return add_duration(now, seconds=-INTENT_EXPIRY_SECONDS)


def _completed_updates(database: Database, repository: Repository, intent: RefIntent) -> list[RefUpdate]:
    there = [update for update in intent_updates(intent) if (repository.tip(update.ref) or NO_OID) == update.new]
    return database.read(lambda db: [update for update in there if not is_recorded_by_others(db, intent, update)])


def _repository_state(
    database: Database,
    repository: Repository,
    intent: RefIntent,
    happened: Sequence[RefUpdate],
    project: Project | None = None,
) -> RepositoryState:
    if project is None:
        project = database.read(partial(project_or_none, project_id=intent.project_id))
    created = [update.branch for update in happened if update.creates and update.branch is not None]
    # Only a project that was empty takes another default branch; else its row says where HEAD points.
    first = created if project is not None and project.empty else []
    head = set_first_head(repository, first)
    brought = {update.ref: summarize_push(repository, update, head) for update in happened[:MAX_DESCRIBED_REFS]}
    arrived = _awaited_commits(database, repository, intent.project_id, happened)
    return RepositoryState(head, lambda: not repository.branches_exist(), brought, arrived)


def _awaited_commits(
    database: Database, repository: Repository, project_id: int, happened: Sequence[RefUpdate]
) -> dict[str, frozenset[str]]:
    """Return by branch the awaited commits that are new on it."""
    moved = tuple(update for update in happened if update.branch is not None and not update.deletes)
    if not moved:
        return {}
    awaited = database.read(lambda db: db.ports[AwaitedCommits].by_branch(db, project_id, moved))
    return {
        update.branch: found
        for update in moved
        if update.branch is not None
        and awaited.get(update.branch)
        and (found := new_commits_among(repository, update.old, update.new, awaited[update.branch]))
    }
