"""Commit history of a branch or of a path."""

from typing import Any

from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page as ListPage
from ingot.repositories import browser
from ingot.repositories.commits.signature_lists import commit_badges
from ingot.repositories.trees import api as trees_api
from ingot.web.ci.outcomes import pipeline_outcomes
from ingot.web.code.commit_graph import commit_graph, topologically_sorted
from ingot.web.code.location import code_location
from ingot.web.explore.feeds import commit_feed, feed_address, feed_visit
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()
_PER_PAGE = 40
_MAX_FILTER_LENGTH = 255


@pages.get("/:path/-/commits", open=True)
def show_newest(visit: Visit, db: Connection) -> PageResponse:
    """List the commits of the default branch, or redirect to the project if its repository is empty."""
    parent = project_context(visit)
    if parent.project.empty_repo and parent.may(trees_api.list_tree):
        return LocalRedirect(parent.url)
    return show_commits(visit, db)


@pages.get("/:path/-/commits/:rest", open=True, slashes="rest")
def show_commits(visit: Visit, db: Connection) -> PageResponse:
    """List the commits of a branch or path, filtered by ``author`` and ``search``."""
    is_feed = visit.request.query.get("format") == "atom"
    location = code_location(feed_visit(visit) if is_feed else visit)
    author, search = (str(visit.request.query.get(name, ""))[:_MAX_FILTER_LENGTH] for name in ("author", "search"))
    number = max(1, min(number_or_none(str(visit.request.query.get("page", ""))) or 1, 10**6))
    page, url = ListPage(number, _PER_PAGE), location.parent.project.web_url
    commits = browser.list_history(location.repository, location.resolved_path, author, search, page, url)
    if is_feed:
        return commit_feed(location.parent, location.ref, commits.items)
    whole = not (author or search or location.path)
    if whole:
        commits = commits.of(topologically_sorted(commits.items))
    context: dict[str, Any] = {
        "location": location,
        "commits": commits,
        "outcomes": pipeline_outcomes(location.parent, db, commits.items),
        "signatures": commit_badges(db, location.repository, [commit.id for commit in commits.items]),
        "graph": commit_graph(commits.items) if whole else None,
        "author": author,
        "search": search,
        "feed": feed_address(visit, f"{location.url('commits')}?format=atom"),
    }
    return location.parent.page("code/commits.html", "commits", context)
