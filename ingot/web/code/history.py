"""The commits of a branch, or of one file of it."""

import os
from typing import Any

from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.core.db.paging import Page as ListPage
from ingot.git.core.paths import path_encodings
from ingot.git.history.commits import read_commits
from ingot.git.history.log import CommitFilter, list_commits
from ingot.repositories.commits.views import CommitView, commit_view
from ingot.web.code.commit_graph import commit_graph, topologically_sorted
from ingot.web.code.location import CodeLocation, code_location
from ingot.web.code.pipelines import pipeline_outcomes
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()
_PER_PAGE = 40
_MAX_FILTER_LENGTH = 255


@pages.get("/:path/-/commits", open=True)
def show_newest(visit: Visit, db: Connection) -> PageResponse:
    """The commits of the default branch."""
    place = project_context(visit)
    if place.project.empty_repo and place.may("GET", "/repository/tree"):
        return LocalRedirect(place.url)
    return show_commits(visit, db)


@pages.get("/:path/-/commits/:rest", open=True, slashes="rest")
def show_commits(visit: Visit, db: Connection) -> PageResponse:
    """The commits of a branch or of a path; ``author`` and ``search`` leave out others."""
    where = code_location(visit, db)
    author, search = (str(visit.query.get(name, ""))[:_MAX_FILTER_LENGTH] for name in ("author", "search"))
    number = max(1, min(number_or_none(str(visit.query.get("page", ""))) or 1, 10**6))
    wanted = CommitFilter(author=author or None, message=search or None)
    commits = _list_commits(where, wanted, ListPage(number, _PER_PAGE))
    whole = not (author or search or where.path)
    if whole:
        commits = commits.of(topologically_sorted(commits.items))
    context: dict[str, Any] = {
        "where": where,
        "commits": commits,
        "outcomes": pipeline_outcomes(where.place, db, commits.items),
        "graph": commit_graph(commits.items) if whole else None,
        "author": author,
        "search": search,
    }
    return where.place.page("code/commits.html", "commits", context)


def _list_commits(where: CodeLocation, wanted: CommitFilter, page: ListPage) -> Listing[CommitView]:
    oids, total = list[str](), 0
    for raw in path_encodings(where.path):
        asked = CommitFilter(path=os.fsdecode(raw) or None, author=wanted.author, message=wanted.message)
        oids, total = list_commits(where.repository, [where.commit], asked, (page.number - 1) * page.size, page.size)
        if total:
            break
    url = where.place.project.web_url
    return Listing([commit_view(commit, url) for commit in read_commits(where.repository, oids)], page, total)
