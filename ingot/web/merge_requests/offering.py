"""Opening a merge request: from which branch to which, what that brings, and what is said about it."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.errors import Conflict, Denied, Failure, Invalid, NotFound
from ingot.git.commits import branch_tip, commit_or_none
from ingot.git.offered import bring_commit
from ingot.git.repository import Repository
from ingot.inline import expect_a_wait
from ingot.merge_requests import policy
from ingot.projects.queries import find_project
from ingot.projects.views import ProjectView
from ingot.repository.commits.views import commit_view, diff_view
from ingot.repository.comparing.queries import Comparison, compare
from ingot.web.code.diffs import Code, shown_diff
from ingot.web.code.where import code_of
from ingot.web.merge_requests.fields import branches_of, choices, sent_of, typed_in
from ingot.web.merge_requests.sides import Sides, sides_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.place import Place
from ingot.web.projects.templates import template_for, templates_of
from ingot.web.refusals import sentences

pages = Pages()
_SHOWN_AGAIN = (Invalid, Conflict, Missing, Denied, NotFound)


class Brought(msgspec.Struct, frozen=True):
    """What a branch would bring to another one."""

    commits: list[Any]
    more: bool
    diff: Any
    head: str


@pages.get("/:path/-/merge_requests/new")
def show_new_form(visit: Visit, db: Connection) -> Reply:
    """Ask for the branches; where the address names them, show what they bring and ask for words."""
    sides, typed = sides_of(visit), typed_in(visit.query)
    if not typed["source_branch"] or "choose" in visit.query:
        return _choose(sides, typed)
    typed["target_branch"] = typed["target_branch"] or sides.target.project.default_branch or ""
    errors = _trouble(sides, typed)
    if errors:
        return _choose(sides, typed, errors, status=200)
    return _offer(sides, db, typed)


@pages.post("/:path/-/merge_requests")
def create_merge_request(visit: Visit) -> Reply:
    """Open it, and lead to it; what was typed stays where it is refused."""
    typed = typed_in(visit.form)
    sides = sides_of(visit, typed)
    sent = sent_of(typed, triages=_triages(sides.target))
    sent |= {name: typed[name] for name in ("source_branch", "target_branch")}
    sent["target_project_id"] = sides.target.project.id
    try:
        made = sides.source.call("POST", "/merge_requests", sent)
    except _SHOWN_AGAIN as refusal:
        errors = sentences(refusal)
    else:
        if not isinstance(made, dict):
            return Redirect(f"{sides.target.url}/-/merge_requests/{made.iid}")
        errors = [f"{reason.rstrip('.')}." for reason in made["message"]]
    if _trouble(sides, typed):
        return _choose(sides, typed, errors)
    return visit.database.read(lambda db: _offer(sides, db, typed, errors))


def _trouble(sides: Sides, typed: dict[str, Any]) -> list[str]:
    """Why these branches cannot be compared."""
    if sides.source.project.id == sides.target.project.id and typed["source_branch"] == typed["target_branch"]:
        return ["Choose two different branches."]
    return [
        f"There is no branch {typed[name]} in {place.project.path_with_namespace}."
        for name, place in (("source_branch", sides.source), ("target_branch", sides.target))
        if not _has(place, typed[name])
    ]


def _has(place: Place, branch: str) -> bool:
    try:
        place.get("/repository/branches/:branch", branch=branch)
    except Failure:
        return False
    return True


def _choose(sides: Sides, typed: dict[str, Any], errors: list[str] | None = None, status: int = 422) -> Page:
    context = {
        "sides": sides,
        "typed": {**typed, "target_branch": typed["target_branch"] or sides.target.project.default_branch or ""},
        "source_branches": branches_of(sides.source),
        "target_branches": branches_of(sides.target),
        "errors": errors or [],
    }
    return sides.place.page("merge_requests/choose.html", "merge_requests", context, status if errors else 200)


def _offer(sides: Sides, db: Connection, typed: dict[str, Any], errors: list[str] | None = None) -> Page:
    brought = _brought(sides, db, typed)
    visit = sides.place.visit
    blob_url = f"{sides.source.url}/-/blob/{brought.head}"
    if visit.fragment and brought.diff.part:
        return Page("code/_diff_part.html", {"diff": brought.diff, "blob_url": blob_url})
    templates: list[str] = []
    if not errors:
        templates = templates_of(sides.target, "merge_request")
        if not typed["description"]:
            asked = visit.query.get("issuable_template")
            typed = {**typed, "description": template_for(sides.target, "merge_request", templates, asked)}
        typed = _worded(sides, typed, brought)
    triages, again = _triages(sides.target), _again(sides, typed)
    context: dict[str, Any] = {
        "sides": sides,
        "typed": typed,
        "brought": brought,
        "triages": triages,
        "squash_option": sides.target.project.squash_option,
        "blob_url": blob_url,
        "again": again,
        "templates": [(name, urlencode({**again, "issuable_template": name})) for name in templates],
        "errors": errors or [],
    }
    context |= choices(sides.target) if triages else {}
    return sides.place.page("merge_requests/new.html", "merge_requests", context, 422 if errors else 200)


def _brought(sides: Sides, db: Connection, typed: dict[str, Any]) -> Brought:
    """The commits and changes, found where the source is; what the target has besides comes there first."""
    source, target = code_of(sides.source, db).repository, code_of(sides.target, db).repository
    head, tip = branch_tip(source, typed["source_branch"]), branch_tip(target, typed["target_branch"])
    if head is None or tip is None:
        raise NotFound("Branch")
    _meet(source, target, tip)
    found: Comparison = compare(source, tip, head, straight=False)
    url = f"{sides.place.visit.origin.base}{sides.source.url}"
    commits = [commit_view(commit, url) for commit in reversed(found.commits)]
    items = [diff_view(change) for change in found.diff.changes]
    diff = shown_diff(items, sides.place.visit.query, code=Code(sides.source.url, head))
    return Brought(commits, found.more_commits, diff, head)


def _meet(source: Repository, target: Repository, tip: str) -> None:
    if source.path != target.path and commit_or_none(source, tip) is None:
        expect_a_wait()
        bring_commit(target, source, tip)


def _worded(sides: Sides, typed: dict[str, Any], brought: Brought) -> dict[str, Any]:
    """Words to begin with: those of the only commit, else the name of the branch."""
    worded, branch = dict(typed), typed["source_branch"]
    if not worded["title"] and len(brought.commits) == 1:
        (commit,) = brought.commits
        worded["title"] = commit.title
        worded["description"] = worded["description"] or commit.message.strip().partition("\n")[2].strip()
    if not worded["title"]:
        words = branch.rpartition("/")[2].replace("-", " ").replace("_", " ").strip() or branch
        worded["title"] = words[:1].upper() + words[1:]
    number = branch.rpartition("/")[2].partition("-")[0]
    if not worded["description"] and number.isascii() and number.isdigit() and _has_issue(sides.target, number):
        worded["description"] = f"Closes #{number}"
    worded["remove_source_branch"] = sides.target.project.remove_source_branch_after_merge
    worded["squash"] = sides.target.project.squash_option in ("always", "default_on")
    return worded


def _has_issue(place: Place, number: str) -> bool:
    try:
        place.get("/issues/:issue_iid", issue_iid=number)
    except Failure:
        return False
    return True


def _triages(place: Place) -> bool:
    visit = place.visit

    def look(db: Connection) -> bool:
        here, project = find_project(db, visit.actor, place.project.id)
        return policy.may_triage(visit.actor, here, project)

    return visit.database.read(look)


def _again(sides: Sides, typed: dict[str, Any]) -> dict[str, str]:
    """What the form holds besides what is typed into it."""
    named: dict[str, ProjectView] = {"source": sides.source.project, "target": sides.target.project}
    projects = {f"merge_request[{side}_project_id]": str(project.id) for side, project in named.items()}
    return projects | {f"merge_request[{side}_branch]": typed[f"{side}_branch"] for side in named}
