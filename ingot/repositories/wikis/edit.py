"""Creation of commits in wikis, outside of transactions.

If another request changes the wiki in the meantime, the commit is created again on the new tip; changes that no longer
apply are refused.
"""

import secrets
import threading
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import UNSET

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.users.commit_addresses import commit_address
from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration, to_datetime
from ingot.core.errors import Conflict, Invalid, NotFound, too_long_message
from ingot.core.events.bus import emit
from ingot.core.jobs.queue import enqueue
from ingot.git.core.repository import Repository
from ingot.git.diffs.changed_files import changed_files_between
from ingot.git.history.commits import NO_OID, Signature, branch_tip, read_commits
from ingot.git.maintenance.store import DEFAULT_STORAGE, RepositoryStore, new_key
from ingot.git.trees.entries import TreeEntry
from ingot.git.writing.commits import CommitMetadata, InvalidAction, TreeAction, commit_actions
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs
from ingot.projects.projects.service import HOUSEKEEP_PROJECT
from ingot.projects.projects.storages import storage_for_new_repository
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.names import sanitize_file_name
from ingot.repositories.ref_changes.moves import RepositoryMoved
from ingot.repositories.wikis.events import PageAction, WikiPageChanged
from ingot.repositories.wikis.owners import (
    WikiOwner,
    add_wiki,
    first_branch,
    owner_kind,
    require_no_move_of_owner,
    storage_of_owner,
    wiki_key_or_none,
)
from ingot.repositories.wikis.page_names import (
    WikiPage,
    page_or_none_from_entry,
    page_path,
    slug_from_title,
    title_error,
)
from ingot.repositories.wikis.params import CreatePage, EditPage
from ingot.repositories.wikis.queries import page_contents, page_or_none

MAX_CONTENT_LENGTH = 1_000_000
MAX_MESSAGE_LENGTH = 10_000
HOUSEKEEPING_DELAY_SECONDS = 600
_MAX_ATTEMPTS = 12
_ACTIONS: dict[str, PageAction] = {"added": "create", "removed": "delete"}
# Requests of one process for the same wiki run one after the other, since all but one would have to retry.
_WIKI_LOCKS = tuple(threading.Lock() for _ in range(64))

PlanCommit = Callable[[str | None], list[TreeAction]]
"""Returns the actions for a commit on top of the given one (None for an empty wiki); empty if nothing changes."""

DescribeChange = Callable[[str | None, str], tuple[PageAction, WikiPage]]
"""Returns the action and the changed page from the commits before and after the change."""


def ensure_wiki(database: Database, store: RepositoryStore, owner: WikiOwner) -> Repository:
    """Return the repository of a wiki, creating it on first use; concurrent calls agree on one repository."""
    key = database.read(partial(wiki_key_or_none, owner=owner))
    if key is not None:
        return store.open(key)
    created_key = new_key(storage_of_owner(owner) or _storage_for_group(database, store))
    store.create(created_key, first_branch(owner))
    try:
        stored_key = database.write(partial(add_wiki, owner=owner, key=created_key))
    except Conflict:  # The row of the owner was deleted meanwhile.
        stored_key = None
    if stored_key != created_key:
        store.remove(created_key)
    if stored_key is None:
        raise NotFound(owner_kind(owner).capitalize())
    return store.open(stored_key)


def _storage_for_group(database: Database, store: RepositoryStore) -> str:
    """Return the storage for the wiki of a group: the bucket if new repositories are stored there."""
    storage = storage_for_new_repository(database, store)
    return storage if store.is_in_bucket(new_key(storage)) else DEFAULT_STORAGE


def create_page(
    database: Database, actor: Actor, repository: Repository, owner: WikiOwner, params: CreatePage
) -> WikiPage:
    """Create a page; raise Invalid if the title is taken."""
    _validate(database, params.title, params.content, params.message)
    slug = slug_from_title(params.title)
    path = page_path(slug, params.format)
    page = partial(_page, repository, slug=slug)

    def plan(tip: str | None) -> list[TreeAction]:
        _require_available_slug(repository, tip, slug)
        return [TreeAction("create", path, content=params.content.encode())]

    message = params.message or f"Create {slug}"
    tip = _commit(database, actor, repository, owner, message, plan, lambda _, oid: ("create", page(oid)))
    return _page(repository, tip, slug)


def edit_page(
    database: Database, actor: Actor, repository: Repository, owner: WikiOwner, slug: str, params: EditPage
) -> WikiPage:
    """Change the content, title or format of a page."""
    content = None if params.content is UNSET else params.content
    _validate(database, None if params.title is UNSET else params.title, content, params.message)
    new_slug: list[str] = []

    def plan(tip: str | None) -> list[TreeAction]:
        before = _page(repository, tip, slug)
        after = before.slug if params.title is UNSET else slug_from_title(params.title)
        new_slug[:] = [after]
        renamed = after != before.slug
        if renamed:
            _require_available_slug(repository, tip, after)
        reformatted = params.format is not UNSET and params.format != before.format
        new_content = page_contents(repository, [before])[0] if content is None else content
        if renamed or reformatted:
            path = page_path(after, before.format if params.format is UNSET else params.format)
            return [TreeAction("move", path, before.path, new_content.encode())]
        unchanged = content is None or page_contents(repository, [before])[0] == content
        return [] if unchanged else [TreeAction("update", before.path, content=new_content.encode())]

    message = params.message or f"Update {slug_from_title(slug)}"
    page = partial(_page, repository)
    tip = _commit(database, actor, repository, owner, message, plan, lambda _, oid: ("update", page(oid, new_slug[0])))
    return _page(repository, tip, new_slug[0])


def delete_page(database: Database, actor: Actor, repository: Repository, owner: WikiOwner, slug: str) -> None:
    """Delete a page; it remains in the wiki's history."""

    def plan(tip: str | None) -> list[TreeAction]:
        return [TreeAction("delete", _page(repository, tip, slug).path)]

    page = partial(_page, repository, slug=slug)
    message = f"Delete {slug_from_title(slug)}"
    _commit(database, actor, repository, owner, message, plan, lambda before, _: ("delete", page(before)))


def attach_file(
    database: Database, actor: Actor, repository: Repository, owner: WikiOwner, name: str, content: bytes
) -> str:
    """Commit an attachment and return its path, which is random and therefore unique and unguessable."""
    path = f"uploads/{secrets.token_hex(16)}/{sanitize_file_name(name)}"
    _commit(
        database,
        actor,
        repository,
        owner,
        f"Upload {sanitize_file_name(name)}",
        lambda _: [TreeAction("create", path, content=content)],
    )
    return path


def _commit(
    database: Database,
    actor: Actor,
    repository: Repository,
    owner: WikiOwner,
    message: str,
    plan: PlanCommit,
    describe: DescribeChange | None = None,
) -> str | None:
    """Commit the planned actions and emit the change of the page, if described; return the new tip."""
    signature = _signature(database, actor)
    database.read(partial(require_no_move_of_owner, repository=repository, owner=owner))
    metadata = CommitMetadata(message, signature, signature)
    with _WIKI_LOCKS[hash(repository.path) % len(_WIKI_LOCKS)]:
        for _ in range(_MAX_ATTEMPTS):
            branch = repository.head_branch()
            tip = branch_tip(repository, branch)
            actions = plan(tip)
            if not actions:
                return tip
            parent = read_commits(repository, [tip])[0] if tip is not None else None
            try:
                oid = commit_actions(repository, parent, actions, metadata)
            except InvalidAction as error:
                raise Invalid(str(error)) from error
            try:
                update_refs(repository, [RefUpdate(f"refs/heads/{branch}", tip or NO_OID, oid)])
            except RefMoved:
                continue
            changes = [] if describe is None else [describe(tip, oid)]
            database.write(
                partial(
                    _record_changes,
                    repository=repository,
                    owner=owner,
                    actor_id=actor.user_id,
                    changes=changes,
                    message=message,
                )
            )
            return oid
    raise Conflict("The wiki is being changed by other requests. Please try again.")


def _record_changes(
    db: Connection,
    repository: Repository,
    owner: WikiOwner,
    actor_id: int,
    changes: Sequence[tuple[PageAction, WikiPage]],
    message: str,
) -> None:
    """Announce a commit; raise RepositoryMoved if it may be in the original of a repository that was moved."""
    require_no_move_of_owner(db, repository, owner)
    if repository.key and wiki_key_or_none(db, owner) != repository.key:
        raise RepositoryMoved("The wiki was moved to another storage. Please try again.")
    announce_page_changes(db, owner, actor_id, changes, message)


def announce_page_changes(
    db: Connection, owner: WikiOwner, actor_id: int, changes: Sequence[tuple[PageAction, WikiPage]], message: str
) -> None:
    """Emit events for changed pages of a project, and schedule housekeeping of the repository once for several calls.

    Webhooks describe a project, so that changes in the wiki of a group emit no event.
    """
    key = wiki_key_or_none(db, owner)
    if key is None:
        return
    run_at = add_duration(db.now, seconds=HOUSEKEEPING_DELAY_SECONDS)
    kind = "wiki" if isinstance(owner, Project) else "group wiki"
    enqueue(db, HOUSEKEEP_PROJECT, {"repository_key": key}, run_at=run_at, unique_key=f"tidy {kind} {owner.id}")
    for action, page in changes if isinstance(owner, Project) else ():
        emit(db, WikiPageChanged(owner.id, actor_id, key, page, action, message))


def changed_pages(repository: Repository, update: RefUpdate) -> list[tuple[PageAction, WikiPage]]:
    """Return the changes of pages by a push to the wiki's main branch."""
    if update.branch != repository.head_branch() or update.deletes:
        return []
    changes = []
    for file in changed_files_between(repository, update.old, update.new):
        page = page_or_none_from_entry(TreeEntry(file.mode, file.oid, file.path))
        if page is not None:
            changes.append((_ACTIONS.get(file.how, "update"), page))
    return changes


def _page(repository: Repository, tip: str | None, slug: str) -> WikiPage:
    page = page_or_none(repository, tip, slug) if tip is not None else None
    if page is None:
        raise NotFound("Wiki Page")
    return page


def _require_available_slug(repository: Repository, tip: str | None, slug: str) -> None:
    if tip is not None and page_or_none(repository, tip, slug) is not None:
        raise Invalid(base=["A page with this title already exists"])


def _validate(database: Database, title: str | None, content: str | None, message: str | None) -> None:
    errors: dict[str, list[str]] = {}
    error = title_error(title) if title is not None else None
    if error is not None:
        errors["title"] = [error]
    if content is not None and not content.strip():
        errors["content"] = ["can't be blank"]
    if len(content or "") > MAX_CONTENT_LENGTH:
        errors["content"] = [too_long_message(MAX_CONTENT_LENGTH)]
    max_bytes = database.read(cached_all_settings).wiki_page_max_content_bytes
    if len((content or "").encode()) > max_bytes:
        errors["content"] = [too_long_message(max_bytes, "bytes")]
    if len(message or "") > MAX_MESSAGE_LENGTH:
        errors["message"] = [too_long_message(MAX_MESSAGE_LENGTH)]
    if errors:
        raise Invalid(**errors)


def _signature(database: Database, actor: Actor) -> Signature:
    email = database.read(lambda db: commit_address(db, find_user(db, actor.user_id)))
    return Signature(actor.name or actor.username, email, int(to_datetime(database.clock()).timestamp()), 0)
