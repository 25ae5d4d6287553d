"""Changing wikis, outside of transactions: each change is a commit upon what is there at that moment.

Whoever finds that somebody else was first makes the commit anew upon that; what no longer fits then is refused as it
would have been a moment later.
"""

import secrets
import threading
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import UNSET
from sqlalchemy import text

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.times import later, moment
from ingot.errors import Conflict, Invalid, NotFound, too_long
from ingot.events.bus import emit
from ingot.git.changed_files import files_between
from ingot.git.commits import NO_OID, Signature, branch_tip, read_commits
from ingot.git.entries import Entry
from ingot.git.names import ref_trouble
from ingot.git.repository import Repository
from ingot.git.store import Store, new_key
from ingot.git.updating import RefMoved, RefUpdate, update_refs
from ingot.git.writing import Action, CannotApply, Words, commit_actions
from ingot.jobs.queue import enqueue
from ingot.projects.service import TIDY_PROJECT
from ingot.projects.tables import Project
from ingot.projects.uploads.names import tidied
from ingot.users.accounts.queries import find_user
from ingot.wikis.events import Doing, WikiPageChanged
from ingot.wikis.pages import Page, page_of, path_of, slug_of, title_trouble
from ingot.wikis.params import CreatePage, EditPage
from ingot.wikis.queries import contents_of, page_or_none, wiki_key

LONGEST_TEXT = 1_000_000
LONGEST_MESSAGE = 10_000
TIDY_AFTER_SECONDS = 600
_MOST_TRIES = 12
_DEFAULT_BRANCH = "main"
_DOINGS: dict[str, Doing] = {"added": "create", "removed": "delete"}
_NAME = text(
    "INSERT INTO project_wikis (project_id, repository_key) VALUES (:project, :key) ON CONFLICT (project_id) DO NOTHING"
)
# Within a process those who change the same wiki go one after the other, since all but one would try in vain.
_TURNS = tuple(threading.Lock() for _ in range(64))

Plan = Callable[[str | None], list[Action]]
"""What to do upon a commit, or in a wiki that has none; nothing where it is so already."""

Tell = Callable[[str | None, str], tuple[Doing, Page]]
"""What was done to which page, by the commit before and the one that did it."""


def ensure_wiki(database: Database, store: Store, project: Project) -> Repository:
    """The repository of a project's wiki, made where there is none; of two who make it at once, one is kept."""
    key = database.read(partial(wiki_key, project_id=project.id))
    if key is not None:
        return store.open(key)
    made = new_key()
    branch = project.default_branch
    store.create(made, branch if ref_trouble(branch) is None else _DEFAULT_BRANCH)

    def name(db: Connection) -> str | None:
        db.run(_NAME, project=project.id, key=made)
        return wiki_key(db, project.id)

    kept = database.write(name)
    if kept is None:
        raise NotFound("Project")
    if kept != made:
        store.remove(made)
    return store.open(kept)


def create_page(database: Database, actor: Actor, repository: Repository, project: Project, wanted: CreatePage) -> Page:
    """Write a new page."""
    _validate(wanted.title, wanted.content, wanted.message)
    slug = slug_of(wanted.title)
    path = path_of(slug, wanted.format)
    page = partial(_page, repository, slug=slug)

    def plan(tip: str | None) -> list[Action]:
        _refuse_taken(repository, tip, slug)
        return [Action("create", path, content=wanted.content.encode())]

    message = wanted.message or f"Create {slug}"
    tip = _commit(database, actor, repository, project, message, plan, lambda _, made: ("create", page(made)))
    return _page(repository, tip, slug)


def edit_page(
    database: Database, actor: Actor, repository: Repository, project: Project, slug: str, wanted: EditPage
) -> Page:
    """Change what a page says, its title or its format."""
    content = None if wanted.content is UNSET else wanted.content
    _validate(None if wanted.title is UNSET else wanted.title, content, wanted.message)
    named: list[str] = []

    def plan(tip: str | None) -> list[Action]:
        before = _page(repository, tip, slug)
        after = before.slug if wanted.title is UNSET else slug_of(wanted.title)
        named[:] = [after]
        renamed = after != before.slug
        if renamed:
            _refuse_taken(repository, tip, after)
        reformed = wanted.format is not UNSET and wanted.format != before.format
        said = contents_of(repository, [before])[0] if content is None else content
        if renamed or reformed:
            path = path_of(after, before.format if wanted.format is UNSET else wanted.format)
            return [Action("move", path, before.path, said.encode())]
        same = content is None or contents_of(repository, [before])[0] == content
        return [] if same else [Action("update", before.path, content=said.encode())]

    message = wanted.message or f"Update {slug_of(slug)}"
    page = partial(_page, repository)
    tip = _commit(database, actor, repository, project, message, plan, lambda _, made: ("update", page(made, named[0])))
    return _page(repository, tip, named[0])


def delete_page(database: Database, actor: Actor, repository: Repository, project: Project, slug: str) -> None:
    """Remove a page; the wiki's history keeps it."""

    def plan(tip: str | None) -> list[Action]:
        return [Action("delete", _page(repository, tip, slug).path)]

    page = partial(_page, repository, slug=slug)
    message = f"Delete {slug_of(slug)}"
    _commit(database, actor, repository, project, message, plan, lambda before, _: ("delete", page(before)))


def attach_file(
    database: Database, actor: Actor, repository: Repository, project: Project, name: str, content: bytes
) -> str:
    """Add a file that pages may mention; gives its path, which nobody can guess and nothing else has."""
    path = f"uploads/{secrets.token_hex(16)}/{tidied(name)}"
    _commit(
        database,
        actor,
        repository,
        project,
        f"Upload {tidied(name)}",
        lambda _: [Action("create", path, content=content)],
    )
    return path


def _commit(
    database: Database,
    actor: Actor,
    repository: Repository,
    project: Project,
    message: str,
    plan: Plan,
    tell: Tell | None = None,
) -> str | None:
    """Do what is planned in one commit, and tell which page it changed, if any; gives the tip after it."""
    who = _signature(database, actor)
    words = Words(message, who, who)
    with _TURNS[hash(repository.path) % len(_TURNS)]:
        for _ in range(_MOST_TRIES):
            branch = repository.head_branch()
            tip = branch_tip(repository, branch)
            actions = plan(tip)
            if not actions:
                return tip
            parent = read_commits(repository, [tip])[0] if tip is not None else None
            try:
                made = commit_actions(repository, parent, actions, words)
            except CannotApply as error:
                raise Invalid(str(error)) from error
            try:
                update_refs(repository, [RefUpdate(f"refs/heads/{branch}", tip or NO_OID, made)])
            except RefMoved:
                continue
            told = [] if tell is None else [tell(tip, made)]
            database.write(
                partial(note_changes, project_id=project.id, actor_id=actor.user_id, told=told, message=message)
            )
            return made
    raise Conflict("Others change this wiki all the time. Please try again.")


def note_changes(
    db: Connection, project_id: int, actor_id: int, told: Sequence[tuple[Doing, Page]], message: str
) -> None:
    """Announce what became of pages, and let a job tidy the repository some time later; asking twice tidies once."""
    key = wiki_key(db, project_id)
    if key is None:
        return
    run_at = later(db.now, seconds=TIDY_AFTER_SECONDS)
    enqueue(db, TIDY_PROJECT, {"repository_key": key}, run_at=run_at, unique_key=f"tidy wiki {project_id}")
    for doing, page in told:
        emit(db, WikiPageChanged(project_id, actor_id, key, page, doing, message))


def changed_pages(repository: Repository, update: RefUpdate) -> list[tuple[Doing, Page]]:
    """What a push to the branch that a wiki shows did to which pages."""
    if update.branch != repository.head_branch() or update.deletes:
        return []
    found = []
    for file in files_between(repository, update.old, update.new):
        page = page_of(Entry(file.mode, file.oid, file.path))
        if page is not None:
            found.append((_DOINGS.get(file.how, "update"), page))
    return found


def _page(repository: Repository, tip: str | None, slug: str) -> Page:
    page = page_or_none(repository, tip, slug) if tip is not None else None
    if page is None:
        raise NotFound("Wiki Page")
    return page


def _refuse_taken(repository: Repository, tip: str | None, slug: str) -> None:
    if tip is not None and page_or_none(repository, tip, slug) is not None:
        raise Invalid(base=["A page with this title already exists"])


def _validate(title: str | None, content: str | None, message: str | None) -> None:
    errors: dict[str, list[str]] = {}
    trouble = title_trouble(title) if title is not None else None
    if trouble is not None:
        errors["title"] = [trouble]
    if content is not None and not content.strip():
        errors["content"] = ["can't be blank"]
    if len(content or "") > LONGEST_TEXT:
        errors["content"] = [too_long(LONGEST_TEXT)]
    if len(message or "") > LONGEST_MESSAGE:
        errors["message"] = [too_long(LONGEST_MESSAGE)]
    if errors:
        raise Invalid(**errors)


def _signature(database: Database, actor: Actor) -> Signature:
    email = database.read(lambda db: find_user(db, actor.user_id).email)
    return Signature(actor.name or actor.username, email, int(moment(database.clock()).timestamp()), 0)
