"""Contributors of a branch and its activity over time."""

from ingot.repositories.comparisons import api as comparisons_api
from ingot.repositories.trees import api as trees_api
from ingot.web.analytics.repository import show_languages
from ingot.web.analytics.sections import analytics_page
from ingot.web.code.activity import commits_by_week
from ingot.web.code.location import code_location
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()


@pages.get("/:path/-/graphs", open=True)
def show_graphs(visit: Visit) -> PageResponse:
    """Show the contributors of the default branch, or redirect to the project if its repository is empty."""
    parent = project_context(visit)
    if parent.project.empty_repo and parent.may(trees_api.list_tree):
        return LocalRedirect(parent.url)
    return show_contributors(visit)


@pages.get("/:path/-/graphs/:rest", open=True, slashes="rest")
def show_contributors(visit: Visit) -> PageResponse:
    """List the contributors of a branch by number of commits, with the commits per week of the last year.

    As in GitLab, ``charts`` after the branch shows the analytics of the repository.
    """
    location = code_location(visit)
    if location.path == "charts":
        return show_languages(location)
    params = {
        "ref": location.commit,
        "order_by": "commits",
        "sort": "desc",
        "page": str(visit.request.query.get("page", "1")),
    }
    contributors = location.parent.ask(comparisons_api.list_contributors, {**params, "per_page": "50"})
    most = max((contributor.commits for contributor in contributors.items), default=1)
    weeks = commits_by_week(location.repository, location.commit, visit.database.clock())
    context = {"location": location, "contributors": contributors, "most": most, "weeks": weeks}
    return analytics_page(location.parent, "code/contributors.html", "graphs", context)
