"""The page of an issue."""

import re
from typing import Any

from markupsafe import Markup

from ingot.db.connection import Connection
from ingot.issues import policy
from ingot.issues.policy import Found
from ingot.issues.ticking import version_of
from ingot.issues.views import IssueView
from ingot.labels.queries import labels_of
from ingot.labels.views import LabelBrief, label_brief
from ingot.markup.tasks import count_tasks
from ingot.web.discussions.ground import ISSUE, Ground, ground_in
from ingot.web.discussions.reading import thread_of
from ingot.web.pages import Pages, Reply, Visit
from ingot.web.projects.place import Place, place_of

pages = Pages()
# Only tasks have boxes, with these attributes, in any order.
_BOX = re.compile(r'<input (?:aria-label="Task [0-9]+" )?(?:(?:class|type|disabled|checked)="[a-z-]*" ?)+>')


@pages.get("/:path/-/issues/:issue_iid", open=True)
def show_issue(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """An issue with all that was said about it."""
    return issue_page(place_of(visit), visit.path["issue_iid"])


def issue_page(place: Place, iid: str, errors: list[str] | None = None, status: int = 200) -> Reply:
    """The same after something did not work."""
    visit, ground = place.visit, ground_in(place, ISSUE, iid)
    found: Found = visit.find("GET", ISSUE.route, **ground.named({}))
    issue = ground.get("")
    actor = visit.actor_or_nobody
    may_edit = policy.may_edit_issue(actor, found.here, found)
    thread = thread_of(ground, issue.description)
    tasks = count_tasks(issue.description or "")
    context = {
        "issue": issue,
        "ground": ground,
        "thread": thread,
        "labels": labels_on(visit, issue),
        "description": _description(thread.besides[0], tasks.total) if may_edit else thread.besides[0],
        "version": version_of(issue.description),
        "tasks": tasks,
        "participants": ground.get("/participants", {"per_page": 50}),
        "links": ground.get("/links", {"per_page": 100}).items,
        "requests": _requests(ground),
        "may_edit": may_edit,
        "may_triage": policy.may_triage(actor, found.here, found.project),
        "may_take_part": policy.may_take_part(actor, found.here, found),
        "errors": errors or [],
    }
    return place.page("issues/show.html", "issues", context, status)


def labels_on(visit: Visit, issue: IssueView) -> list[LabelBrief]:
    """What the issue carries, with colours."""
    found = visit.database.read(lambda db: labels_of(db, "issue", [issue.id]))
    return [label_brief(label) for label in found.get(issue.id, [])]


def _requests(ground: Ground) -> list[tuple[Any, bool]]:
    """The merge requests that mention it, and whether each closes it."""
    related = ground.get("/related_merge_requests").items
    closes = {request.id: request for request in ground.get("/closed_by").items} if related else {}
    both = closes | {request.id: request for request in related}
    return [(request, number in closes) for number, request in both.items()]


def _description(html: Markup, tasks: int) -> Markup:
    """The text; its boxes are buttons, where each is known to stand for one task of it."""
    if not tasks or len(_BOX.findall(html)) != tasks:
        return html
    number = -1

    def button(found: re.Match[str]) -> str:
        nonlocal number
        number += 1
        value, checked = (f"{number}-open", "true") if ' checked="' in found[0] else (f"{number}-done", "false")
        says = f'role="checkbox" aria-checked="{checked}" aria-label="Task {number + 1}"'
        return f'<button class="task" name="task" value="{value}" {says}></button>'

    return Markup(_BOX.sub(button, html))  # noqa: S704 - The sanitiser has been over it, and the buttons are ours.
