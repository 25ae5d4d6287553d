"""What lies between two branches, tags or commits."""

from typing import Any
from urllib.parse import quote

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.git.commits import commit_id
from ingot.web.code.diffs import Code, shown_diff
from ingot.web.code.pipelines import Outcome, outcomes_of
from ingot.web.code.where import code_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences

pages = Pages()


@pages.get("/:path/-/compare", open=True)
def show_form(visit: Visit, db: Connection) -> Reply:
    """Ask what to compare; the form's answer gets an address of its own."""
    place = place_of(visit)
    code_of(place, db)
    old, new = (str(visit.query.get(name, "")).strip() for name in ("from", "to"))
    if old and new:
        straight = visit.query.get("straight") in ("true", "1")
        return Redirect(f"{place.url}/-/compare/{quote(old)}{'..' if straight else '...'}{quote(new)}")
    return _page(place, old or place.project.default_branch or "", new)


@pages.get("/:path/-/compare/:rest", open=True, slashes="rest")
def show_comparison(visit: Visit, db: Connection) -> Reply:
    """The commits and the difference from one to the other: ``old...new``, or ``old..new`` for the straight one."""
    place = place_of(visit)
    code = code_of(place, db)
    rest = visit.path["rest"]
    mark = "..." if "..." in rest else ".."
    old, found, new = rest.partition(mark)
    if not found:
        old, new = place.project.default_branch or "", rest
    straight = mark == ".." and bool(found)
    asked = {"from": old, "to": new, "straight": "true" if straight else "false"}
    try:
        compared = place.get("/repository/compare", asked)
    except NotFound:
        return _page(place, old, new, errors=["One of the two is not there: check the names."], status=404)
    except Refusal as refusal:
        return _page(place, old, new, errors=sentences(refusal), status=422)
    head = commit_id(code.repository, new)
    diff = shown_diff(compared.diffs, visit.query, code=Code(place.url, head) if head else None)
    if visit.fragment and diff.part:
        return Page("code/_diff_part.html", {"diff": diff, "blob_url": _blobs(place, new)})
    outcomes = outcomes_of(place, db, compared.commits)
    return _page(place, old, new, straight=straight, compared=compared, diff=diff, outcomes=outcomes)


def _page(
    place: Place,
    old: str,
    new: str,
    *,
    straight: bool = False,
    compared: Any = None,
    diff: Any = None,
    outcomes: dict[str, Outcome] | None = None,
    errors: list[str] | None = None,
    status: int = 200,
) -> Page:
    context = {
        "old": old,
        "new": new,
        "straight": straight,
        "compared": compared,
        "diff": diff,
        "outcomes": outcomes or {},
        "errors": errors or [],
        "blob_url": _blobs(place, new),
        "may_merge": bool(compared and compared.commits) and place.may("POST", "/merge_requests"),
    }
    return place.page("code/compare.html", "code", context, status)


def _blobs(place: Place, ref: str) -> str:
    return f"{place.url}/-/blob/{quote(ref)}"
