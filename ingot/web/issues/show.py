"""Page of an issue."""

import re
from typing import Any

from markupsafe import Markup

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues import policy
from ingot.collaboration.issues.links.views import linked_briefs
from ingot.collaboration.issues.task_items import description_version
from ingot.collaboration.issues.timeline.policy import INCIDENT, may_change_timeline
from ingot.collaboration.issues.timeline.service import PREDEFINED_TAGS
from ingot.collaboration.issues.timeline.views import TimelineEventView, tag_names, timeline_view
from ingot.collaboration.issues.views import IssueView, found_issue_view, relative_views
from ingot.projects.projects.attributes import path_from_name
from ingot.repositories.branches import api as branches_api
from ingot.web.discussions.discussable import ISSUE, Discussable, discussable_in
from ingot.web.discussions.timeline import discussion_thread
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.texts import render_markdown_texts

pages = PageRoutes()
_BRANCH_TEMPLATE = "%{id}-%{title}"
_MAX_TITLE = 100
# Only tasks have checkboxes, with these attributes in any order.
_CHECKBOX = re.compile(r'<input (?:aria-label="Task [0-9]+" )?(?:(?:class|type|disabled|checked)="[a-z-]*" ?)+>')


@pages.get("/:path/-/issues/:issue_iid", open=True)
def show_issue(visit: Visit) -> PageResponse:
    """Show an issue with its discussions."""
    return issue_page(project_context(visit), visit.request.path["issue_iid"])


def issue_page(parent: ProjectContext, iid: str, errors: list[str] | None = None, status: int = 200) -> PageResponse:
    """Build the page of an issue, with errors after a failed form."""
    visit, discussable = parent.visit, discussable_in(parent, ISSUE, iid)
    lookup = discussable.find(issues_api.get_issue)
    # List the participants first: they are most of the users on the page, and later reads find them cached.
    participants = discussable.ask(issues_api.PLANNING.list_participants, {"per_page": 50})
    actor, base = visit.viewer.actor, visit.request.origin.base
    issue = visit.database.read(lambda db: found_issue_view(db, actor, lookup, base, with_labels_details=True))
    may_edit = policy.may_edit_issue(actor, lookup.access, lookup)
    thread = discussion_thread(discussable, issue.description)
    tasks = issue.task_completion_status
    containing, children = visit.database.read(lambda db: relative_views(db, actor, lookup.issue, base))
    context = {
        "issue": issue,
        "discussable": discussable,
        "thread": thread,
        "labels": issue.labels,
        "description": _description_html(thread.other_texts[0], tasks.count) if may_edit else thread.other_texts[0],
        "version": description_version(issue.description),
        "tasks": tasks,
        "participants": participants,
        "containing": containing,
        "children": children,
        "closed_children": sum(child.state == "closed" for child in children),
        "links": visit.database.read(lambda db: linked_briefs(db, actor, issue.id, base)),
        "requests": _related_merge_requests(discussable),
        "may_edit": may_edit,
        "may_triage": policy.may_triage(actor, lookup.access, lookup.project),
        "may_take_part": policy.may_take_part(actor, lookup.access, lookup),
        "branch_name": _branch_name(parent, issue) if parent.may(branches_api.create_branch) else "",
        **_timeline_context(visit, lookup),
        "errors": errors or [],
    }
    return parent.page("issues/show.html", "issues", context, status)


def _timeline_context(visit: Visit, lookup: policy.IssueLookup) -> dict[str, Any]:
    """Return the timeline of an incident, and what its forms need; other issues have none."""
    if lookup.issue.issue_type != INCIDENT:
        return {"timeline": None}
    project_id = lookup.project.id
    events = visit.database.read(lambda db: timeline_view(db, lookup.issue))
    own_tags = visit.database.read(lambda db: tag_names(db, project_id))
    texts = render_markdown_texts(visit, [event.note for event in events], project_id)
    return {
        "timeline": list(zip(events, texts, strict=True)),
        "timeline_tags": list(dict.fromkeys([*PREDEFINED_TAGS, *own_tags])),
        "new_event": TimelineEventView(None, "", [], visit.database.clock()),
        "may_change_timeline": may_change_timeline(visit.viewer.actor, lookup.access, lookup),
    }


def _related_merge_requests(discussable: Discussable) -> list[tuple[Any, bool]]:
    """Return the merge requests that mention the issue, and whether each closes it."""
    related = discussable.ask(issues_api.list_related_merge_requests).items
    closes = (
        {request.id: request for request in discussable.ask(issues_api.list_closing_merge_requests).items}
        if related
        else {}
    )
    both = closes | {request.id: request for request in related}
    return [(request, number in closes) for number, request in both.items()]


def _description_html(html: Markup, tasks: int) -> Markup:
    """Return the description with checkboxes as buttons, if their number matches the number of tasks."""
    if not tasks or len(_CHECKBOX.findall(html)) != tasks:
        return html
    number = -1

    def button(match: re.Match[str]) -> str:
        nonlocal number
        number += 1
        value, checked = (f"{number}-open", "true") if ' checked="' in match[0] else (f"{number}-done", "false")
        attributes = f'role="checkbox" aria-checked="{checked}" aria-label="Task {number + 1}"'
        return f'<button class="task" name="task" value="{value}" {attributes}></button>'

    return Markup(_CHECKBOX.sub(button, html))  # noqa: S704 - Sanitized HTML plus our own buttons.


def _branch_name(parent: ProjectContext, issue: IssueView) -> str:
    """Return the name of a branch for an issue, from the template of the project."""
    template: str | None = parent.project.issue_branch_template  # type: ignore[attr-defined]  # Declared as an option.
    title = "confidential-issue" if issue.confidential else path_from_name(issue.title)[:_MAX_TITLE].strip("-")
    return (template or _BRANCH_TEMPLATE).replace("%{id}", str(issue.iid)).replace("%{title}", title)
