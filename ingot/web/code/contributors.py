"""Who wrote a branch, and when."""

from ingot.db.connection import Connection
from ingot.web.code.activity import commits_by_week
from ingot.web.code.where import where_of
from ingot.web.pages import Pages, Redirect, Reply, Visit
from ingot.web.projects.place import place_of

pages = Pages()


@pages.get("/:path/-/graphs", open=True)
def show_graphs(visit: Visit, db: Connection) -> Reply:
    """The same of the default branch; where nothing was written yet, the way to a first push."""
    place = place_of(visit)
    if place.project.empty_repo and place.may("GET", "/repository/tree"):
        return Redirect(place.url)
    return show_contributors(visit, db)


@pages.get("/:path/-/graphs/:rest", open=True, slashes="rest")
def show_contributors(visit: Visit, db: Connection) -> Reply:
    """Who wrote a branch, whoever wrote most first, and how much was written in each week of the last year."""
    where = where_of(visit, db)
    asked = {"ref": where.commit, "order_by": "commits", "sort": "desc", "page": str(visit.query.get("page", "1"))}
    people = where.place.get("/repository/contributors", {**asked, "per_page": "50"})
    most = max((person.commits for person in people.items), default=1)
    weeks = commits_by_week(where.repository, where.commit, visit.database.clock())
    context = {"where": where, "people": people, "most": most, "weeks": weeks}
    return where.place.page("code/contributors.html", "commits", context)
