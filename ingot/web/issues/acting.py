"""What is done to an issue from its page: tasks ticked, links made, and moving it elsewhere."""

from ingot.access.rules import require
from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.errors import Conflict, Denied, Invalid, NotFound
from ingot.issues.policy import may_edit_issue
from ingot.issues.queries import find_issue
from ingot.issues.tables import Issue
from ingot.issues.ticking import tick
from ingot.markup.references import references
from ingot.web.discussions.ground import ISSUE, Ground, ground_of
from ingot.web.issues.showing import issue_page
from ingot.web.pages import Pages, Redirect, Reply, Visit
from ingot.web.projects.place import place_of
from ingot.web.refusals import sentences

pages = Pages()
find = ground_of(ISSUE)
_REFUSED = (Invalid, Conflict, Missing, NotFound, Denied)


@pages.post("/:path/-/issues/:issue_iid/tasks")
def tick_task(visit: Visit) -> Reply:
    """Tick one task of the description, if that is still what the visitor saw."""
    ground = find(visit)
    number, _, state = str(visit.form.get("task", "")).partition("-")
    if not (number.isascii() and number.isdigit() and len(number) < 5):
        raise Invalid(task=["is invalid"])
    seen = str(visit.form.get("version", ""))

    def work(db: Connection) -> Issue:
        found = find_issue(db, visit.actor, str(ground.project_id), ground.number)
        require(may_edit_issue(visit.actor, found.here, found))
        return tick(db, visit.actor, found, int(number), seen, done=state == "done")

    visit.database.write(work)
    return Redirect(ground.url)


@pages.post("/:path/-/issues/:issue_iid/state")
def change_state(visit: Visit) -> Reply:
    """Close it, or open it again."""
    return _tried(visit, "PUT", "", state_event=str(visit.form.get("state_event", "")))


@pages.post("/:path/-/issues/:issue_iid/links")
def link_issue(visit: Visit) -> Reply:
    """Say what else it has to do with, by a sign or an address."""
    ground, text = find(visit), str(visit.form.get("target", "")).strip()
    text = f"#{text}" if text.isdigit() else text
    named = next((one for one in references(text, visit.origin.base) if one.kind == "issue"), None)
    if named is None:
        return _again(ground, ["Name an issue as #12 or group/project#12, or by its address."])
    project = named.project or ground.project_path
    if "/" not in project:
        project = f"{ground.project_path.rpartition('/')[0]}/{project}"
    return _tried(visit, "POST", "/links", target_project_id=project, target_issue_iid=named.name)


@pages.delete("/:path/-/issues/:issue_iid/links/:issue_link_id")
def unlink_issue(visit: Visit) -> Reply:
    """They have nothing to do with each other after all."""
    ground = find(visit)
    ground.call("DELETE", "/links/:issue_link_id", issue_link_id=visit.path["issue_link_id"])
    return Redirect(ground.url)


@pages.post("/:path/-/issues/:issue_iid/move")
def move_issue(visit: Visit) -> Reply:
    """Move it to another project, and lead there."""
    ground = find(visit)
    try:
        target = visit.get("/projects/:id", id=str(visit.form.get("to_project", "")).strip().strip("/"))
        moved = ground.call("POST", "/move", {"to_project_id": target.id})
    except _REFUSED as refusal:
        ground.get("")
        return _again(ground, sentences(refusal))
    return Redirect(f"/{target.path_with_namespace}/-/issues/{moved.iid}")


def _tried(visit: Visit, method: str, route: str, **sent: str) -> Reply:
    ground = find(visit)
    try:
        ground.call(method, route, sent)
    except _REFUSED as refusal:
        ground.get("")  # Who may not see it is told nothing else.
        return _again(ground, sentences(refusal))
    return Redirect(ground.url)


def _again(ground: Ground, errors: list[str]) -> Reply:
    return issue_page(place_of(ground.visit), ground.number, errors, 422)
