"""Ref changes that keep git and the database consistent across crashes.

First an intent is committed, then git swaps the refs from the values in the intent, then one transaction records the
changes and deletes the intent. After a crash, open intents are compared with the refs: a ref that has the new value was
updated.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Conflict, Denied, Invalid, Unavailable
from ingot.core.jobs.queue import enqueue
from ingot.core.log import log_failure
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
    choose_first_head,
    locked_refs,
    set_first_head,
    sync_refs,
    update_refs,
)
from ingot.projects.projects.queries import find_project, project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.queries import (
    branch_rules,
    developers_start_project,
    rule_ids_of_deploy_key,
    tag_rules,
)
from ingot.repositories.push_rules.checks import check_push_rule
from ingot.repositories.ref_changes.moves import require_current_place
from ingot.repositories.ref_changes.policy import DEFAULT_BRANCH_REFUSAL, MAX_REFS, RefUpdateContext, ref_update_refusal
from ingot.repositories.ref_changes.ports import MergeRequestHeads, PipelineConfigurations
from ingot.repositories.ref_changes.push_options import KEPT_OPTIONS, restricted_options
from ingot.repositories.ref_changes.queries import (
    intent_updates,
    is_recorded_by_others,
    lock_default_branch,
    open_intents,
    open_intents_in,
)
from ingot.repositories.ref_changes.service import (
    RepositoryState,
    delete_intent,
    new_intent,
    record_ref_updates,
    store_intent,
)
from ingot.repositories.ref_changes.tables import RefIntent

RECONCILE_CHANGES = "reconcile_ref_changes"
INTENT_EXPIRY_SECONDS = 600
"""Longer than any process needs from its intent to the update of the refs."""
_READ_ALL_REFS_THRESHOLD = 50
"""Above this number, reading all refs at once is faster than one by one."""
MAX_DESCRIBED_REFS = 20
"""Number of updates per push that get a summary."""
MAX_PUSH_OPTIONS = 50
MAX_PUSH_OPTION_LENGTH = 50_000
_REF_KINDS = {"heads": "branch", "tags": "tag"}
IntentCallback = Callable[[Connection], None]


class PreparedChange(NamedTuple):
    """Ref changes that the policy has accepted."""

    intent: RefIntent
    """The intent, which is not stored yet."""
    project: Project
    check: IntentCallback
    """Checks that belong into the transaction of the intent, or of the change where there is none."""


AccessLookup = Callable[[Connection], tuple[Access, Project]]
"""Returns the caller's current access and the project; raises if it is hidden from the caller."""


def access_lookup(actor: Actor, project_id: int) -> AccessLookup:
    """Return the lookup of a user's access to a project."""
    return lambda db: find_project(db, actor, project_id)


def change_refs(
    database: Database,
    repository: Repository,
    actor: Actor,
    project: Project,
    updates: Sequence[RefUpdate],
    *,
    merges: bool = False,
    in_intent_transaction: IntentCallback | None = None,
    access: Access | None = None,
    push_options: Sequence[str] = (),
) -> None:
    """Update refs for the API or a page, all or none; their objects must exist already.

    Raises ``Denied`` if an update is refused, and ``Conflict`` if a ref has been moved by another request.
    ``in_intent_transaction`` runs in the transaction of the intent, after all changes that led to the current refs have
    been recorded; an exception from it aborts the change. ``access`` spares the lookup of the actor's access.
    """
    lookup_access = access_lookup(actor, project.id) if access is None else lambda _: (access, project)
    prepared = prepare_ref_updates(
        database,
        repository,
        actor,
        lookup_access,
        updates,
        via="api",
        merges=merges,
        in_intent_transaction=in_intent_transaction,
        push_options=push_options,
    )
    intent = None if repository.ref_store is not None else begin_ref_updates(database, prepared)
    try:
        if intent is None:
            commit_ref_updates(database, repository, prepared, updates)
        else:
            update_refs(repository, updates)
    except RefMoved:
        if intent is not None:
            discard_intent(database, intent)
        raise Conflict("The branch has changed in the meantime. Please try again.") from None
    except RefNameConflict as conflict:
        if intent is not None:
            discard_intent(database, intent)
        raise Invalid(_ref_conflict_message(conflict)) from None
    if intent is not None:
        finish_ref_updates(database, repository, intent, updates, project)


def begin_ref_updates(database: Database, prepared: PreparedChange) -> RefIntent:
    """Commit the intent of a change."""

    def write(db: Connection) -> RefIntent:
        prepared.check(db)
        return store_intent(db, prepared.intent)

    return database.write(write)


def commit_ref_updates(
    database: Database,
    repository: Repository,
    prepared: PreparedChange,
    updates: Sequence[RefUpdate],
    packs: Sequence[str] = (),
) -> None:
    """Change refs of a repository in a bucket and record the change, in one transaction.

    Raises ``RefMoved``, ``RefNameConflict`` or ``InvalidTarget``. ``packs`` are those that a push has brought.
    """
    refs = repository.ref_store
    if refs is None:
        raise ValueError("The refs of a directory need an intent")
    project = prepared.project
    first = _first_head_or_none(repository, project, updates)
    after = _repository_state(database, repository, prepared.intent, updates, project, planned_head=first)
    after = msgspec.structs.replace(after, is_empty=lambda db: not refs.has_branches(db))
    refs.update(
        updates,
        check=prepared.check,
        record=lambda db: record_ref_updates(db, prepared.intent, updates, after),
        first_head=first,
        packs=packs,
    )


def prepare_ref_updates(
    database: Database,
    repository: Repository,
    actor: Actor,
    lookup_access: AccessLookup,
    updates: Sequence[RefUpdate],
    *,
    via: str,
    merges: bool = False,
    deploy_key_id: int | None = None,
    env: Mapping[str, str] | None = None,
    in_intent_transaction: IntentCallback | None = None,
    push_options: Sequence[str] = (),
) -> PreparedChange:
    """Check updates, all or none; raise ``Denied`` if one is refused.

    ``env`` gives git access to the quarantined objects of a push that is not accepted yet. ``deploy_key_id`` is the
    deploy key that pushes, if the caller is not a user. ``push_options`` are those of ``git push -o``.
    """
    if len(updates) > MAX_REFS:
        raise Denied(f"A push may change {MAX_REFS} references at most.")

    def load_context(db: Connection) -> RefUpdateContext:
        access, project = lookup_access(db)
        return RefUpdateContext(
            actor,
            access,
            project,
            branch_rules(db, project.id),
            tag_rules(db, project.id),
            from_git_client=via in ("http", "ssh"),
            merges=merges,
            deploy_key_rules=(None if deploy_key_id is None else rule_ids_of_deploy_key(db, project.id, deploy_key_id)),
            developers_start=developers_start_project(db, project),
        )

    context = database.read(load_context)
    for update in updates:
        refusal = ref_update_refusal(
            context, update, lambda update: not is_ancestor(repository, update.old, update.new, env)
        )
        if refusal is not None:
            raise Denied(refusal if len(updates) == 1 else f"{update.ref}: {refusal}")
    require_ref_limit(repository, updates)
    rule = context.project.options.push_rule
    if rule is not None:
        check_push_rule(
            database,
            repository,
            actor,
            context.project,
            rule,
            updates,
            env,
            from_git_client=context.from_git_client,
        )
    if repository.ref_store is None:
        reconcile_predecessors(database, repository, context.project.id, updates)
        break_stale_locks(repository, [update.ref for update in updates])
    actor_id = actor.user_id or None
    kept_options = restricted_options(actor, _kept_options(push_options))
    deleted_branches = {update.branch for update in updates if update.deletes and update.branch is not None}

    def check(db: Connection) -> None:
        require_current_place(db, repository, context.project.id)
        if in_intent_transaction is not None:
            in_intent_transaction(db)
        # Checked again, since one of them may have become the default branch in the meantime.
        if deleted_branches and lock_default_branch(db, context.project.id) in deleted_branches:
            raise Denied(DEFAULT_BRANCH_REFUSAL)

    intent = new_intent(database.clock(), context.project.id, actor_id, via, updates, deploy_key_id, kept_options)
    return PreparedChange(intent, context.project, check)


def require_ref_limit(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Raise ``Denied`` if the updates add more refs than a repository may have."""
    added = sum(update.creates for update in updates) - sum(update.deletes for update in updates)
    error = repository.ref_limit_error(added) if added > 0 else None
    if error is not None:
        raise Denied(error)


def check_old_values(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Raise ``Denied`` if an update does not start at the current value of its ref.

    Git clients send the old value themselves, and the permission check depends on it. Git compares it with the ref only
    later, and for the deletion of a missing object not at all.
    """
    if len({update.ref for update in updates}) != len(updates):
        raise Denied("A push may name each branch or tag only once.")
    refs = repository.refs() if len(updates) > _READ_ALL_REFS_THRESHOLD else None
    for update in updates:
        current = repository.tip(update.ref) if refs is None else refs.get(update.ref.encode())
        if (current or NO_OID) != update.old:
            raise Denied(f"{update.ref} has changed in the meantime. Fetch it and push again.")
        if update.new == update.old:
            raise Denied(f"{update.ref} would not change.")


def finish_ref_updates(
    database: Database,
    repository: Repository,
    intent: RefIntent,
    completed: Sequence[RefUpdate],
    project: Project | None = None,
) -> None:
    """Record completed updates that are on disk; after this call, every request sees them.

    Without ``project``, its row is looked up.
    """
    after = _repository_state(database, repository, intent, completed, project)
    database.write(lambda db: record_ref_updates(db, intent, completed, after))


def finish_pushed_updates(
    database: Database, repository: Repository, intent: RefIntent, completed: Sequence[RefUpdate]
) -> None:
    """Sync updates that git has made itself to disk, and record them."""
    sync_refs(repository, completed)
    finish_ref_updates(database, repository, intent, completed)


def finish_interrupted_intent(database: Database, repository: Repository, intent: RefIntent) -> None:
    """Record the updates of an interrupted push that git completed, and delete its intent."""
    completed = _completed_updates(database, repository, intent)
    if completed:
        finish_pushed_updates(database, repository, intent, completed)
    else:
        discard_intent(database, intent)


def discard_intent(database: Database, intent: RefIntent) -> None:
    """Delete an intent of which no update has been or will be executed."""
    database.write(lambda db: delete_intent(db, intent.key))


def reconcile_predecessors(
    database: Database, repository: Repository, project_id: int, updates: Sequence[RefUpdate]
) -> None:
    """Record interrupted changes that led to the current values of the refs about to be updated.

    After the next update, their values could no longer be observed.
    """
    before = {(update.ref, update.old) for update in updates}
    for intent in database.read(partial(open_intents_in, project_id=project_id)):
        if any((update.ref, update.new) in before for update in intent_updates(intent)):
            reconcile_intent(database, repository, intent)


def reconcile_intent(database: Database, repository: Repository, intent: RefIntent) -> None:
    """Record the completed updates of an open intent; delete it if all are complete or it has expired.

    It stays open while a ref is locked: the lock of a killed process is removed as soon as none can hold it any more.
    """
    refs = [update.ref for update in intent_updates(intent)]
    break_stale_locks(repository, refs)
    completed = _completed_updates(database, repository, intent)
    complete = len(completed) == len(refs) and not locked_refs(repository, refs)
    complete = complete or intent.created_at < _expiry_time(database.clock())
    sync_refs(repository, completed)
    after = _repository_state(database, repository, intent, completed)
    database.write(lambda db: record_ref_updates(db, intent, completed, after, complete=complete))


def enqueue_reconciliation(db: Connection) -> None:
    """Enqueue a job that reconciles open intents, if there are any."""
    if open_intents(db):
        enqueue(db, RECONCILE_CHANGES, None, unique_key=RECONCILE_CHANGES)


def reconcile_all(database: Database, store: RepositoryStore) -> None:
    """Reconcile every open intent, at startup and periodically.

    An intent that fails stays open and its exception is raised at the end, so that it does not block the others.
    """
    failed: Exception | None = None
    for intent in database.read(open_intents):
        try:
            _reconcile_one(database, store, intent)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - A failure of one intent must not block the others.
            log_failure("ref change not reconciled", error, intent=intent.id)
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


def _ref_conflict_message(conflict: RefNameConflict) -> str:
    _, kind, name = (conflict.other or "//").split("/", 2)
    if kind not in _REF_KINDS:  # The conflicting ref has been deleted in the meantime.
        return "The name conflicts with that of another branch or tag"
    return f"'{conflict.wanted.split('/', 2)[2]}' cannot exist beside the {_REF_KINDS[kind]} '{name}'"


def _expiry_time(now: Timestamp) -> Timestamp:
    return add_duration(now, seconds=-INTENT_EXPIRY_SECONDS)


def _completed_updates(database: Database, repository: Repository, intent: RefIntent) -> list[RefUpdate]:
    updated = [update for update in intent_updates(intent) if (repository.tip(update.ref) or NO_OID) == update.new]
    return database.read(lambda db: [update for update in updated if not is_recorded_by_others(db, intent, update)])


def _repository_state(
    database: Database,
    repository: Repository,
    intent: RefIntent,
    completed: Sequence[RefUpdate],
    project: Project | None = None,
    planned_head: str | None = None,
) -> RepositoryState:
    """Return the state after updates; with refs in a bucket, before these are made."""
    if project is None:
        project = database.read(partial(project_or_none, project_id=intent.project_id))
    if repository.ref_store is not None:
        head = planned_head or repository.head_branch()
    else:
        head = set_first_head(repository, _first_branches(project, completed))
    base = next((update.new for update in completed if update.branch == head), None)
    summaries = {
        update.ref: summarize_push(repository, update, head, base) for update in completed[:MAX_DESCRIBED_REFS]
    }
    merged_heads = _merge_request_heads(database, repository, intent.project_id, completed)
    configured = (
        ()
        if project is None
        else database.ports[PipelineConfigurations].configured_refs(repository, project, tuple(completed))
    )
    return RepositoryState(head, lambda _: not repository.branches_exist(), summaries, merged_heads, configured)


def _first_branches(project: Project | None, completed: Sequence[RefUpdate]) -> list[str]:
    """Return the created branches of an empty project, which get its HEAD; otherwise HEAD follows the project's row."""
    if project is None or not project.empty:
        return []
    return [update.branch for update in completed if update.creates and update.branch is not None]


def _first_head_or_none(repository: Repository, project: Project, updates: Sequence[RefUpdate]) -> str | None:
    created = _first_branches(project, updates)
    head = repository.head_branch()
    if not created or head in created or repository.branch_exists(head):
        return None
    return choose_first_head(created)


def _kept_options(options: Sequence[str]) -> list[str]:
    """Return the options of a push for pipelines and merge requests; a push with too many of them is refused."""
    kept = [option for option in options if option.startswith(KEPT_OPTIONS)]
    if len(kept) > MAX_PUSH_OPTIONS or sum(map(len, kept)) > MAX_PUSH_OPTION_LENGTH:
        raise Denied("The options of this push are too long.")
    return [option.encode(errors="replace").decode() for option in kept]


def _merge_request_heads(
    database: Database, repository: Repository, project_id: int, completed: Sequence[RefUpdate]
) -> dict[str, frozenset[str]]:
    """Return the awaited commits that are new on each branch."""
    moved = tuple(update for update in completed if update.branch is not None and not update.deletes)
    if not moved:
        return {}
    awaited = database.read(lambda db: db.ports[MergeRequestHeads].by_branch(db, project_id, moved))
    return {
        update.branch: merged_heads
        for update in moved
        if update.branch is not None
        and awaited.get(update.branch)
        and (merged_heads := new_commits_among(repository, update.old, update.new, awaited[update.branch]))
    }
