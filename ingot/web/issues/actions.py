"""Actions on the page of an issue: checkboxes, tasks, state, links and moving."""

import re
from collections.abc import Callable

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.hierarchy import relatives
from ingot.collaboration.issues.links import api as issue_links_api
from ingot.collaboration.issues.task_items import tick_task_of
from ingot.core.api.params import number_or_none
from ingot.core.errors import Invalid, NotFound
from ingot.core.markup.references import extract_references
from ingot.projects.projects import api as projects_api
from ingot.web.discussions.discussable import ISSUE, Discussable, discussable_finder
from ingot.web.form_errors import ACTION_ERRORS, error_messages
from ingot.web.issues.show import issue_page
from ingot.web.notices import notice_by_field
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()
find_discussable = discussable_finder(ISSUE)
_NUMBER = re.compile(r"#([0-9]{1,18})")


@pages.post("/:path/-/issues/:issue_iid/tasks", notice="Task changed.")
def tick_task(visit: Visit) -> PageResponse:
    """Toggle a task of the description, if the description has not changed since the page was loaded."""
    discussable = find_discussable(visit)
    number, _, state = str(visit.request.form.get("task", "")).partition("-")
    if not (number.isascii() and number.isdigit() and len(number) < 5):
        raise Invalid(task=["is invalid"])
    seen = str(visit.request.form.get("version", ""))
    visit.database.write(
        lambda db: tick_task_of(
            db, visit.viewer.actor, discussable.project_id, discussable.number, int(number), seen, done=state == "done"
        )
    )
    return LocalRedirect(discussable.url)


@pages.post(
    "/:path/-/issues/:issue_iid/state",
    notice=notice_by_field("state_event", {"close": "Issue closed."}, "Issue reopened."),
)
def change_state(visit: Visit) -> PageResponse:
    """Close or reopen the issue."""
    return _submit(visit, issues_api.edit_issue, state_event=str(visit.request.form.get("state_event", "")))


@pages.post("/:path/-/issues/:issue_iid/links", notice="Issue linked.")
def link_issue(visit: Visit) -> PageResponse:
    """Link another issue, given by reference or URL."""
    discussable, text = find_discussable(visit), str(visit.request.form.get("target", "")).strip()
    text = f"#{text}" if text.isdigit() else text
    reference = next(
        (each for each in extract_references(text, visit.request.origin.base) if each.kind == "issue"), None
    )
    if reference is None:
        return _page_with_errors(discussable, ["Enter an issue as #12, group/project#12 or its URL."])
    project = reference.project or discussable.project_path
    if "/" not in project:
        project = f"{discussable.project_path.rpartition('/')[0]}/{project}"
    return _submit(
        visit,
        issue_links_api.link_issue,
        target_project_id=project,
        target_issue_iid=reference.name,
        link_type=str(visit.request.form.get("link_type", "")) or "relates_to",
    )


@pages.delete("/:path/-/issues/:issue_iid/links/:issue_link_id", notice="Link removed.")
def unlink_issue(visit: Visit) -> PageResponse:
    """Remove a link to another issue."""
    discussable = find_discussable(visit)
    discussable.ask(issue_links_api.unlink_issue, issue_link_id=visit.request.path["issue_link_id"])
    return LocalRedirect(discussable.url)


@pages.post("/:path/-/issues/:issue_iid/children", notice="Task added.")
def add_task(visit: Visit) -> PageResponse:
    """Add a task to the issue: a new one by its title, or an existing one by its number."""
    parent, discussable = project_context(visit), find_discussable(visit)
    text = str(visit.request.form.get("task", "")).strip()
    try:
        issue = discussable.ask(issues_api.get_issue)
        existing = _NUMBER.fullmatch(text)
        if existing is not None:
            parent.ask(issues_api.edit_issue, {"parent_id": issue.id}, issue_iid=existing[1])
        else:
            task = {"title": text, "issue_type": "task", "parent_id": issue.id, "confidential": issue.confidential}
            parent.ask(issues_api.create_issue, task)
    except ACTION_ERRORS as error:
        discussable.ask(issues_api.get_issue)  # Without permission to read the issue, the response is a 404.
        return _page_with_errors(discussable, error_messages(error))
    return LocalRedirect(discussable.url)


@pages.delete("/:path/-/issues/:issue_iid/children/:child_id", notice="Task removed.")
def remove_task(visit: Visit) -> PageResponse:
    """Remove a task from the issue; the task itself remains."""
    discussable, child_id = find_discussable(visit), number_or_none(visit.request.path["child_id"])
    actor, issue = visit.viewer.actor, discussable.find(issues_api.get_issue).issue
    tasks = visit.database.read(lambda db: relatives(db, actor, issue)[1])
    task = next((each for each in tasks if each.id == child_id), None)
    if task is None:
        raise NotFound("Task")
    visit.ask(issues_api.edit_issue, {"parent_id": None}, id=task.project_id, issue_iid=task.iid)
    return LocalRedirect(discussable.url)


@pages.post("/:path/-/issues/:issue_iid/move", notice="Issue moved.")
def move_issue(visit: Visit) -> PageResponse:
    """Move the issue to another project and redirect to it."""
    discussable = find_discussable(visit)
    try:
        target = visit.ask(
            projects_api.get_project, id=str(visit.request.form.get("to_project", "")).strip().strip("/")
        )
        moved = discussable.ask(issues_api.move_issue, {"to_project_id": target.id})
    except ACTION_ERRORS as error:
        discussable.ask(issues_api.get_issue)
        return _page_with_errors(discussable, error_messages(error))
    return LocalRedirect(f"/{target.path_with_namespace}/-/issues/{moved.iid}")


def _submit(visit: Visit, endpoint: Callable[..., object], **params: str) -> PageResponse:
    discussable = find_discussable(visit)
    try:
        discussable.ask(endpoint, params)
    except ACTION_ERRORS as error:
        discussable.ask(issues_api.get_issue)  # Without permission to read the issue, the response is a 404.
        return _page_with_errors(discussable, error_messages(error))
    return LocalRedirect(discussable.url)


def _page_with_errors(discussable: Discussable, errors: list[str]) -> PageResponse:
    return issue_page(project_context(discussable.visit), discussable.number, errors, 422)
