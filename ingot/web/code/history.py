"""The commits of a branch, or of one file of it."""

import os
from typing import Any

from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.db.paging import Listing
from ingot.db.paging import Page as ListPage
from ingot.git.commits import read_commits
from ingot.git.history import Filter, list_commits
from ingot.git.paths import spellings
from ingot.repository.commits.views import CommitView, commit_view
from ingot.web.code.graphs import graph_of, in_order
from ingot.web.code.pipelines import outcomes_of
from ingot.web.code.where import Where, where_of
from ingot.web.pages import Pages, Redirect, Reply, Visit
from ingot.web.projects.place import place_of

pages = Pages()
_A_PAGE = 40
_LONGEST = 255


@pages.get("/:path/-/commits", open=True)
def show_newest(visit: Visit, db: Connection) -> Reply:
    """The commits of the default branch."""
    place = place_of(visit)
    if place.project.empty_repo and place.may("GET", "/repository/tree"):
        return Redirect(place.url)
    return show_commits(visit, db)


@pages.get("/:path/-/commits/:rest", open=True, slashes="rest")
def show_commits(visit: Visit, db: Connection) -> Reply:
    """The commits of a branch or of a path; ``author`` and ``search`` leave out others."""
    where = where_of(visit, db)
    author, search = (str(visit.query.get(name, ""))[:_LONGEST] for name in ("author", "search"))
    number = max(1, min(number_or_none(str(visit.query.get("page", ""))) or 1, 10**6))
    wanted = Filter(author=author or None, message=search or None)
    commits = _listed(where, wanted, ListPage(number, _A_PAGE))
    whole = not (author or search or where.path)
    if whole:
        commits = commits.of(in_order(commits.items))
    context: dict[str, Any] = {
        "where": where,
        "commits": commits,
        "outcomes": outcomes_of(where.place, db, commits.items),
        "graph": graph_of(commits.items) if whole else None,
        "author": author,
        "search": search,
    }
    return where.place.page("code/commits.html", "commits", context)


def _listed(where: Where, wanted: Filter, page: ListPage) -> Listing[CommitView]:
    oids, total = list[str](), 0
    for raw in spellings(where.path):
        asked = Filter(path=os.fsdecode(raw) or None, author=wanted.author, message=wanted.message)
        oids, total = list_commits(where.repository, [where.commit], asked, (page.number - 1) * page.size, page.size)
        if total:
            break
    url = where.place.project.web_url
    return Listing([commit_view(commit, url) for commit in read_commits(where.repository, oids)], page, total)
