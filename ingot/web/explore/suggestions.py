"""Suggestions of the search field: objects visited lately, projects, groups, people, files, issues and pages.

Each kind comes from the endpoint that lists it, as the current user, and is left out if that one refuses.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.instance.search_access import is_global_search_enabled
from ingot.accounts.users import api as users_api
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.core.db.search import MIN_INDEXED_LENGTH
from ingot.core.log import log_failure
from ingot.projects.groups import api as groups_api
from ingot.projects.projects import api as projects_api
from ingot.repositories import browser
from ingot.search.code import cannot_be_searched
from ingot.search.page_addresses import MAX_VISITED, VisitedObject, address_of_reference, resolve_addresses
from ingot.web.code.file_finder import matching_paths
from ingot.web.code.location import code_location_in, readable_code
from ingot.web.display_zone import translate_label
from ingot.web.explore.jumps import Jump, jumps_of_project, jumps_of_user
from ingot.web.form_errors import REQUEST_ERRORS
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext

pages = PageRoutes()
_SHOWN = 5
"""Suggestions of each kind."""
_READ = 15
"""Rows of a list from which the best are suggested."""
_MAX_LENGTH = 100
_NEWEST = {"order_by": "updated_at", "scope": "all"}


class SearchSuggestion(msgspec.Struct, frozen=True):
    """Page that the search field suggests."""

    url: str
    title: str
    hint: str = ""
    icon: str = ""

    def matches(self, text: str) -> bool:
        """Return whether the title, the hint or the address contains a case-folded text."""
        return any(text in each.casefold() for each in (self.title, self.hint, self.url))


class SuggestionGroup(NamedTuple):
    """Suggestions of one kind under a heading."""

    kind: str
    suggestions: list[SearchSuggestion]


class _Search(NamedTuple):
    """Text and place of the search field."""

    visit: Visit
    db: Connection
    text: str
    project: ProjectContext | None
    """Project of the page with the field."""


@pages.get("/-/suggestions", open=True)
def suggest(visit: Visit, db: Connection) -> PageResponse:
    """Suggest pages for the text in the search field, as the options of a list."""
    query = visit.request.query
    text = text_field(query, "search").strip()[:_MAX_LENGTH]
    project = _project(visit, text_field(query, "project"))
    search = _Search(visit, db, text, project)
    visited = _visited(search, query.get("visited"))
    groups = [SuggestionGroup("visited", visited), *_found(search)]
    shown: set[str] = set()
    distinct = [SuggestionGroup(group.kind, _without(group.suggestions, shown)) for group in groups]
    return TemplateResponse("explore/_suggestions.html", {"groups": [group for group in distinct if group.suggestions]})


def _project(visit: Visit, path: str) -> ProjectContext | None:
    if not path:
        return None
    try:
        return ProjectContext(visit, visit.ask(projects_api.get_project, {"ci_settings": False}, id=path))
    except REQUEST_ERRORS:
        return None


def _visited(search: _Search, addresses: object) -> list[SearchSuggestion]:
    """Return the objects at the addresses that the browser sent, and the one that the text names."""
    sent = [each for each in addresses if isinstance(each, str)] if isinstance(addresses, list) else []
    named = address_of_reference(search.text)
    actor, folded = search.visit.viewer.actor, search.text.casefold()
    first = resolve_addresses(search.db, actor, [named]) if named else []
    found = [_suggestion(each) for each in resolve_addresses(search.db, actor, sent[:MAX_VISITED])]
    return ([_suggestion(each) for each in first] + [each for each in found if each.matches(folded)])[:_SHOWN]


def _suggestion(visited: VisitedObject) -> SearchSuggestion:
    if visited.kind == "group":
        return _group(visited.full_path, visited.title)
    if visited.kind == "project":
        return _project_of(visited.full_path, visited.title)
    return _subject(visited.kind, visited.full_path, visited.iid, visited.title)


def _group(full_path: str, name: str) -> SearchSuggestion:
    return SearchSuggestion(f"/groups/{full_path}", name, full_path if "/" in full_path else "", "users")


def _project_of(full_path: str, name: str) -> SearchSuggestion:
    return SearchSuggestion(f"/{full_path}", name, full_path.rpartition("/")[0], "folder")


def _subject(kind: str, full_path: str, iid: int, title: str) -> SearchSuggestion:
    sign, icon = ("#", "issue-opened") if kind == "issues" else ("!", "merge-request")
    return SearchSuggestion(f"/{full_path}/-/{kind}/{iid}", title, f"{full_path}{sign}{iid}", icon)


def _found(search: _Search) -> Iterator[SuggestionGroup]:
    """Yield the suggestions of each kind; without a text only pages."""
    if search.text:
        for kind, find in _FINDERS:
            try:
                yield SuggestionGroup(kind, find(search)[:_SHOWN])
            except REQUEST_ERRORS:
                continue
    yield SuggestionGroup("pages", _pages(search))


def _without(items: list[SearchSuggestion], shown: set[str]) -> list[SearchSuggestion]:
    """Return the suggestions of pages that are not shown yet."""
    left = [each for each in items if each.url not in shown]
    shown.update(each.url for each in left)
    return left


def _best(search: _Search, items: Iterable[SearchSuggestion]) -> list[SearchSuggestion]:
    """Return suggestions whose title is or starts with the text before the others."""
    folded = search.text.casefold()

    def rank(item: SearchSuggestion) -> int:
        title = item.title.casefold()
        return 0 if title == folded else 1 if title.startswith(folded) else 2

    return sorted(items, key=rank)


def _projects(search: _Search) -> list[SearchSuggestion]:
    params = {"search": search.text, "simple": "true", "order_by": "last_activity_at", "per_page": _READ}
    listing = search.visit.ask(projects_api.list_projects, params)
    return _best(search, (_project_of(each.path_with_namespace, each.name) for each in listing.items))


def _groups(search: _Search) -> list[SearchSuggestion]:
    params = {"search": search.text, "all_available": "true", "per_page": _READ}
    listing = search.visit.ask(groups_api.list_groups, params)
    return _best(search, (_group(each.full_path, each.name) for each in listing.items))


def _people(search: _Search) -> list[SearchSuggestion]:
    params = {"search": search.text.removeprefix("@"), "active": "true", "per_page": _READ}
    listing = search.visit.ask(users_api.list_users, params)
    people = (SearchSuggestion(f"/{each.username}", each.name, f"@{each.username}", "user") for each in listing.items)
    return _best(search, people)


def _files(search: _Search) -> list[SearchSuggestion]:
    if search.project is None or len(search.text) < 2:
        return []
    try:
        location = code_location_in(search.project, readable_code(search.project), "")
    except Exception as error:  # A damaged repository has no files to suggest.
        if not cannot_be_searched(error):
            raise
        log_failure("repository unreadable", error, project_id=search.project.project.id)
        return []
    paths = matching_paths(browser.list_file_paths(location.repository, location.commit).paths, search.text)
    return [
        SearchSuggestion(location.url("blob", path), path.rpartition("/")[2], path.rpartition("/")[0], "file")
        for path in paths[:_SHOWN]
    ]


def _issues(search: _Search) -> list[SearchSuggestion]:
    return _subjects(search, "issues", issues_api.list_issues, issues_api.list_project_issues)


def _merge_requests(search: _Search) -> list[SearchSuggestion]:
    in_project = merge_requests_api.list_project_merge_requests
    return _subjects(search, "merge_requests", merge_requests_api.list_merge_requests, in_project)


def _subjects(
    search: _Search, kind: str, anywhere: Callable[..., Listing[Any]], in_project: Callable[..., Listing[Any]]
) -> list[SearchSuggestion]:
    """Return issues or merge requests by number in the project, or by title there or in all projects."""
    sign = "#" if kind == "issues" else "!"
    number = search.text.removeprefix(sign)
    by_title = {**_NEWEST, "search": search.text, "in": "title", "per_page": _SHOWN}
    if number.isascii() and number.isdecimal() and len(number) < 10 and search.project is not None:
        rows = search.project.ask(in_project, {"iids": [int(number)], "scope": "all"}).items
    elif search.text.startswith(("#", "!")):
        return []
    elif search.project is not None:
        rows = search.project.ask(in_project, by_title).items
    elif len(search.text) < MIN_INDEXED_LENGTH or not is_global_search_enabled(all_settings(search.db), kind):
        return []
    else:
        rows = search.visit.ask(anywhere, by_title).items
    found = [_subject(kind, each.references.full.rpartition(sign)[0], each.iid, each.title) for each in rows]
    if search.project is None:
        return found
    return [msgspec.structs.replace(each, hint=f"{sign}{row.iid}") for each, row in zip(found, rows, strict=True)]


def _pages(search: _Search) -> list[SearchSuggestion]:
    """Return the pages and actions whose label contains the text."""
    folded = search.text.casefold()
    jumps = [*(jumps_of_project(search.project) if search.project else ()), *jumps_of_user(search.visit)]
    labelled = ((jump, translate_label(jump.label)) for jump in jumps)
    found = [_jump(jump, label) for jump, label in labelled if folded in label.casefold() or folded in jump.folded]
    return found[:_SHOWN] if folded else found[: 2 * _SHOWN]


def _jump(jump: Jump, label: str) -> SearchSuggestion:
    return SearchSuggestion(jump.url, label, jump.place, jump.icon)


_FINDERS = (
    ("projects", _projects),
    ("groups", _groups),
    ("people", _people),
    ("files", _files),
    ("issues", _issues),
    ("merge requests", _merge_requests),
)
