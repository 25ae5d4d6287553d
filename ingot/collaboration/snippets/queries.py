"""Queries of snippets and their files."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import ColumnElement, bindparam, or_, select

from ingot.collaboration.snippets import policy
from ingot.collaboration.snippets.params import ListSnippets
from ingot.collaboration.snippets.tables import Snippet, SnippetFile, snippet_files, snippets
from ingot.core.access.actor import Actor
from ingot.core.access.levels import NO_ACCESS, Access, Level
from ingot.core.access.rules import require
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains_ignoring_case, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.search import is_indexed, search_term_ignoring_case, text_search
from ingot.core.errors import Invalid, NotFound
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project, projects

_EARLIEST, _LATEST = "0", "~"
_BY_ID = select(snippets).where(snippets.c.id == bindparam("snippet"))
_ALL_OF = select(snippets).where(in_list(snippets.c.id, "snippets"))
_BY_IDS = select(snippets).where(in_list(snippets.c.id, "ids"), in_list(snippets.c.project_id, "projects"))
_FILES = select(snippet_files).where(snippet_files.c.snippet_id == bindparam("snippet")).order_by(snippet_files.c.id)
_FIRST = _FILES.limit(1)
_BY_PATH = select(snippet_files).where(
    snippet_files.c.snippet_id == bindparam("snippet"), snippet_files.c.path == bindparam("file")
)
_PATHS = (
    select(snippet_files.c.snippet_id, snippet_files.c.path)
    .where(in_list(snippet_files.c.snippet_id, "snippets"))
    .order_by(snippet_files.c.id)
)


def _newest_first(*conditions: ColumnElement[bool]) -> ListQuery:
    return list_query(select(snippets).where(*conditions), snippets.c.id, snippets.c.id.desc())


def _newest_first_in_time_span(*conditions: ColumnElement[bool]) -> ListQuery:
    """Return a list query across projects, limited to a span of time."""
    span = snippets.c.created_at >= bindparam("earliest"), snippets.c.created_at <= bindparam("latest")
    matching = select(snippets).outerjoin(projects, projects.c.id == snippets.c.project_id).where(*span, *conditions)
    return list_query(matching, snippets.c.id, snippets.c.id.desc())


_IN_PROJECT = snippets.c.project_id == bindparam("project")
_ALL_IN_PROJECT = _newest_first(_IN_PROJECT)
_VISIBLE_IN_PROJECT = {
    external: _newest_first(_IN_PROJECT, policy.visible_in_project(external=external)) for external in (False, True)
}
_WRITTEN = snippets.c.author_id == bindparam("author")
_OWN = {
    external: _newest_first_in_time_span(_WRITTEN, policy.visible_snippets(external=external))
    for external in (False, True)
}
_OWN_OF_ADMINISTRATORS = _newest_first_in_time_span(_WRITTEN, policy.snippets_enabled())
_PUBLIC = _newest_first_in_time_span(snippets.c.visibility == "public", snippets.c.project_id.is_(None))
_ALL = _newest_first_in_time_span(policy.snippets_enabled())


def _search_conditions(short: bool) -> dict[str, ColumnElement[bool]]:
    """Return the conditions for a search in titles and paths, and in contents."""

    def matches(key: ColumnElement[int], *columns: ColumnElement[Any]) -> ColumnElement[bool]:
        if short:
            return or_(*(contains_ignoring_case(column, "pattern") for column in columns))
        return text_search(key, "needle", *columns, as_written=True)

    def in_files(column: ColumnElement[str]) -> ColumnElement[bool]:
        matching_ids = select(snippet_files.c.snippet_id).where(matches(snippet_files.c.id, column))
        return snippets.c.id.in_(matching_ids.scalar_subquery())

    in_texts = matches(snippets.c.id, snippets.c.title, snippets.c.description)
    return {"titles": or_(in_texts, in_files(snippet_files.c.path)), "contents": in_files(snippet_files.c.content)}


_SEARCHED = {short: _search_conditions(short) for short in (False, True)}


@lru_cache(maxsize=32)
def _search_query(where: str, short: bool, external: bool | None, sort: str) -> ListQuery:
    visible = policy.snippets_enabled() if external is None else policy.visible_snippets(external=external)
    matching = select(snippets).outerjoin(projects, projects.c.id == snippets.c.project_id)
    order = snippets.c.id.asc() if sort == "asc" else snippets.c.id.desc()
    return list_query(matching.where(_SEARCHED[short][where], visible), snippets.c.id, order)


def snippets_by_ids(db: Connection, snippet_ids: Sequence[int]) -> dict[int, Snippet]:
    """Map ids to snippets without a permission check."""
    return (
        {snippet.id: snippet for snippet in db.all(Snippet, _ALL_OF, snippets=list(snippet_ids))} if snippet_ids else {}
    )


def snippet_by_id(db: Connection, snippet_id: int) -> Snippet:
    """Return a snippet by its id without a permission check; raise NotFound if there is none."""
    snippet = db.first(Snippet, _BY_ID, snippet=snippet_id)
    if snippet is None:
        raise NotFound("Snippet")
    return snippet


def visible_snippets_by_id(
    db: Connection, actor: Actor, places: Sequence[tuple[Access, Project]], ids: Sequence[int]
) -> dict[int, Snippet]:
    """Map ids to the snippets of these projects that the caller can see, with one statement for all."""
    project_access = {project.id: (access, project) for access, project in places}
    rows = db.all(Snippet, _BY_IDS, ids=list(ids), projects=list(project_access))
    return {
        snippet.id: snippet
        for snippet in rows
        if snippet.project_id and policy.may_see_snippet(actor, *project_access[snippet.project_id], snippet)
    }


def find_project_snippet(db: Connection, actor: Actor, project_name: str, snippet_id: str) -> policy.SnippetLookup:
    """Return a snippet of a project; raise NotFound if there is none that the caller can see."""
    access, project = find_project(db, actor, project_name)
    number = number_or_none(snippet_id)
    if number is None:
        raise Invalid(snippet_id=["is invalid"])
    require(policy.may_read_snippets(actor, access, project))
    lookup = project_snippet_or_none(db, actor, access, project, number)
    if lookup is None:
        raise NotFound("Snippet")
    return lookup


def project_snippet_or_none(
    db: Connection, actor: Actor, access: Access, project: Project, snippet_id: int
) -> policy.SnippetLookup | None:
    """Return a snippet of a project if the caller can see it, else None."""
    snippet = db.first(Snippet, _BY_ID, snippet=snippet_id)
    if snippet is None or snippet.project_id != project.id:
        return None
    return (
        policy.SnippetLookup(access, project, snippet)
        if policy.may_see_snippet(actor, access, project, snippet)
        else None
    )


def find_snippet(db: Connection, actor: Actor, snippet_id: int) -> policy.SnippetLookup:
    """Return a snippet, in a project or personal; raise NotFound if there is none that the caller can see."""
    lookup = snippet_or_none(db, actor, snippet_id)
    if lookup is None:
        raise NotFound("Snippet")
    return lookup


def snippet_or_none(db: Connection, actor: Actor, snippet_id: int) -> policy.SnippetLookup | None:
    """Return a snippet, in a project or personal, if the caller can see it, else None."""
    snippet = db.first(Snippet, _BY_ID, snippet=snippet_id)
    if snippet is None:
        return None
    access: Access = NO_ACCESS
    project: Project | None = None
    if snippet.project_id is not None:
        try:
            access, project = find_project(db, actor, snippet.project_id)
        except NotFound:
            return None
    return (
        policy.SnippetLookup(access, project, snippet)
        if policy.may_see_snippet(actor, access, project, snippet)
        else None
    )


def files_of_snippet(db: Connection, snippet_id: int) -> list[SnippetFile]:
    """List the files of a snippet with their contents."""
    return db.all(SnippetFile, _FILES, snippet=snippet_id)


def first_file(db: Connection, snippet_id: int) -> SnippetFile:
    """Return the first file, which older clients treat as the whole snippet."""
    file = db.first(SnippetFile, _FIRST, snippet=snippet_id)
    if file is None:
        raise NotFound("File")
    return file


def find_file(db: Connection, snippet_id: int, path: str) -> SnippetFile:
    """Return the file with this path; raise NotFound if there is none."""
    file = db.first(SnippetFile, _BY_PATH, snippet=snippet_id, file=path)
    if file is None:
        raise NotFound("File")
    return file


def paths_by_snippet(db: Connection, snippet_ids: Sequence[int]) -> dict[int, list[str]]:
    """Map snippet ids to the paths of their files, with one statement for all."""
    paths: defaultdict[int, list[str]] = defaultdict(list)
    for snippet_id, path in db.rows(_PATHS, snippets=list(snippet_ids)):
        paths[snippet_id].append(path)
    return paths


def list_project_snippets(
    db: Connection, actor: Actor, access: Access, project: Project, page: Page
) -> Listing[Snippet]:
    """Return a page of a project's snippets that the caller can see, newest first."""
    if actor.admin:
        return fetch_page(db, Snippet, _ALL_IN_PROJECT, page, project=project.id)
    query = _VISIBLE_IN_PROJECT[actor.external and access.level < Level.GUEST]
    return fetch_page(db, Snippet, query, page, project=project.id, actor=actor.user_id)


def list_own_snippets(db: Connection, actor: Actor, params: ListSnippets, page: Page) -> Listing[Snippet]:
    """Return a page of the caller's snippets, in projects and personal."""
    values = {"author": actor.user_id, **_time_span(params)}
    if actor.admin:
        return fetch_page(db, Snippet, _OWN_OF_ADMINISTRATORS, page, **values)
    actor_values = {"actor": actor.user_id, "today": db.today}
    return fetch_page(db, Snippet, _OWN[actor.external], page, **values, **actor_values)


def list_public_snippets(db: Connection, params: ListSnippets, page: Page) -> Listing[Snippet]:
    """Return a page of the public personal snippets."""
    return fetch_page(db, Snippet, _PUBLIC, page, **_time_span(params))


def list_all_snippets(db: Connection, params: ListSnippets, page: Page) -> Listing[Snippet]:
    """Return a page of all snippets, for administrators."""
    return fetch_page(db, Snippet, _ALL, page, **_time_span(params))


def search_snippets(
    db: Connection, actor: Actor, where: Literal["titles", "contents"], text: str, page: Page, sort: str = "desc"
) -> Listing[Snippet]:
    """Return a page of the snippets that contain a text and that the caller can see."""
    short = not is_indexed(text, as_written=True)
    values: dict[str, Any] = {"pattern": like_pattern(text)} if short else {"needle": search_term_ignoring_case(text)}
    external = None if actor.admin else actor.external
    if external is not None:
        values |= {"actor": actor.user_id, "today": db.today}
    return fetch_page(db, Snippet, _search_query(where, short, external, sort), page, **values)


def _time_span(params: ListSnippets) -> dict[str, Any]:
    return {"earliest": params.created_after or _EARLIEST, "latest": params.created_before or _LATEST}
