"""What is done to an issue from its page: tasks ticked, links made, and moving it elsewhere."""

from ingot.collaboration.issues.policy import may_edit_issue
from ingot.collaboration.issues.queries import find_issue
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.task_items import tick_issue_task
from ingot.core.access.rules import require
from ingot.core.api.params import MissingParameter
from ingot.core.db.connection import Connection
from ingot.core.markup.references import extract_references
from ingot.errors import Conflict, Denied, Invalid, NotFound
from ingot.web.discussions.discussable import ISSUE, Discussable, discussable_finder
from ingot.web.form_errors import error_messages
from ingot.web.issues.show import issue_page
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()
find_discussable = discussable_finder(ISSUE)
_REJECTED = (Invalid, Conflict, MissingParameter, NotFound, Denied)


@pages.post("/:path/-/issues/:issue_iid/tasks")
def tick_task(visit: Visit) -> PageResponse:
    """Tick one task of the description, if that is still what the visitor saw."""
    ground = find_discussable(visit)
    number, _, state = str(visit.form.get("task", "")).partition("-")
    if not (number.isascii() and number.isdigit() and len(number) < 5):
        raise Invalid(task=["is invalid"])
    seen = str(visit.form.get("version", ""))

    def work(db: Connection) -> Issue:
        found = find_issue(db, visit.actor, str(ground.project_id), ground.number)
        require(may_edit_issue(visit.actor, found.here, found))
        return tick_issue_task(db, visit.actor, found, int(number), seen, done=state == "done")

    visit.database.write(work)
    return LocalRedirect(ground.url)


@pages.post("/:path/-/issues/:issue_iid/state")
def change_state(visit: Visit) -> PageResponse:
    """Close it, or open it again."""
    return _submit(visit, "PUT", "", state_event=str(visit.form.get("state_event", "")))


@pages.post("/:path/-/issues/:issue_iid/links")
def link_issue(visit: Visit) -> PageResponse:
    """Say what else it has to do with, by a sign or an address."""
    ground, text = find_discussable(visit), str(visit.form.get("target", "")).strip()
    text = f"#{text}" if text.isdigit() else text
    named = next((one for one in extract_references(text, visit.origin.base) if one.kind == "issue"), None)
    if named is None:
        return _page_with_errors(ground, ["Name an issue as #12 or group/project#12, or by its address."])
    project = named.project or ground.project_path
    if "/" not in project:
        project = f"{ground.project_path.rpartition('/')[0]}/{project}"
    return _submit(visit, "POST", "/links", target_project_id=project, target_issue_iid=named.name)


@pages.delete("/:path/-/issues/:issue_iid/links/:issue_link_id")
def unlink_issue(visit: Visit) -> PageResponse:
    """They have nothing to do with each other after all."""
    ground = find_discussable(visit)
    ground.call("DELETE", "/links/:issue_link_id", issue_link_id=visit.path["issue_link_id"])
    return LocalRedirect(ground.url)


@pages.post("/:path/-/issues/:issue_iid/move")
def move_issue(visit: Visit) -> PageResponse:
    """Move it to another project, and lead there."""
    ground = find_discussable(visit)
    try:
        target = visit.get("/projects/:id", id=str(visit.form.get("to_project", "")).strip().strip("/"))
        moved = ground.call("POST", "/move", {"to_project_id": target.id})
    except _REJECTED as refusal:
        ground.get("")
        return _page_with_errors(ground, error_messages(refusal))
    return LocalRedirect(f"/{target.path_with_namespace}/-/issues/{moved.iid}")


def _submit(visit: Visit, method: str, route: str, **sent: str) -> PageResponse:
    ground = find_discussable(visit)
    try:
        ground.call(method, route, sent)
    except _REJECTED as refusal:
        ground.get("")  # Who may not see it is told nothing else.
        return _page_with_errors(ground, error_messages(refusal))
    return LocalRedirect(ground.url)


def _page_with_errors(discussable: Discussable, errors: list[str]) -> PageResponse:
    return issue_page(project_context(discussable.visit), discussable.number, errors, 422)
