"""Mutations of work items: issues under the names of GitLab's newer schema."""

from typing import Any

from ingot.core.errors import Invalid
from ingot.graphql.connections import MAX_PAGE_SIZE
from ingot.graphql.context import QueryContext
from ingot.graphql.families.issues import issue_by_id
from ingot.graphql.families.work_items import TYPE_NUMBERS
from ingot.graphql.global_ids import number_of
from ingot.graphql.locators import SubjectPath, issue_path, label_titles
from ingot.graphql.mutations.inputs import Input, optional_number, renamed, row_number
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()
_MAX_CHILDREN = 20
_MAX_LINKED = 10
_LINK_TYPES = {"RELATED": "relates_to", "BLOCKS": "blocks", "BLOCKED_BY": "is_blocked_by"}


def _number(global_id: str) -> int:
    return number_of(global_id, "WorkItem", "Issue")


def _place(context: QueryContext, sent: Input) -> SubjectPath:
    return issue_path(context, _number(sent["id"]))


def _type_of(sent: Input) -> str:
    """Return the requested type of a work item; raise Invalid for types that do not exist."""
    number = number_of(sent["workItemTypeId"], "WorkItems::Type")
    kind = next((name for name, each in TYPE_NUMBERS.items() if each == number), None)
    if kind is None:
        raise Invalid("Work item type not found")
    return kind


def _parent_of(sent: Input) -> dict[str, int | None]:
    """Return the parameter of the parent, if one was sent, also as null."""
    widget = sent.get("hierarchyWidget") or {}
    if "parentId" not in widget:
        return {}
    return {"parent_id": widget["parentId"] and _number(widget["parentId"])}


@resolvers.mutation("workItemCreate")
def create_work_item(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create an issue or a task."""
    project = sent.get("namespacePath") or sent.get("projectPath")
    if not project:
        raise Invalid("namespacePath is required")
    params = renamed(sent, title="title", description="description", confidential="confidential")
    params |= {"issue_type": _type_of(sent), **_parent_of(sent), **_widget_params(context, sent)}
    created = context.call("POST /projects/:id/issues", params, id=project)
    if _widget(sent, "linkedItems"):
        _link(context, issue_path(context, created.id), sent["linkedItemsWidget"])
    return {"work_item": created}


@resolvers.mutation("workItemConvert")
def convert_work_item(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Turn an issue into a task, or a task into an issue."""
    place = _place(context, sent)
    return {"work_item": context.call(f"PUT {place.route}", {"issue_type": _type_of(sent)}, **place.path)}


@resolvers.mutation("workItemUpdate")
def update_work_item(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a work item, and add tasks to it."""
    number = _number(sent["id"])
    place = issue_path(context, number)
    params = renamed(sent, title="title", confidential="confidential") | _parent_of(sent)
    params |= _widget_params(context, sent)
    if sent.get("stateEvent"):
        params["state_event"] = sent["stateEvent"].lower()
    children = (sent.get("hierarchyWidget") or {}).get("childrenIds") or []
    if len(children) > _MAX_CHILDREN:
        raise Invalid(f"At most {_MAX_CHILDREN} children can be added at once")
    if params:
        context.call(f"PUT {place.route}", params, **place.path)
    for child in children:
        task = issue_path(context, _number(child))
        context.call(f"PUT {task.route}", {"parent_id": number}, **task.path)
    context.forget()
    return {"work_item": context.call(f"GET {place.route}", **place.path)}


@resolvers.mutation("workItemDelete")
def delete_work_item(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete an issue under the name of a work item."""
    issue_by_id(context, _number(sent["id"]))
    place = _place(context, sent)
    context.call(f"DELETE {place.route}", **place.path)
    return {"project": context.call("GET /projects/:id", id=place.path["id"])}


def _widget(sent: Input, name: str) -> dict[str, Any]:
    return sent.get(f"{name}Widget") or {}


def _widget_params(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Return the parameters of the widgets of an input; raise Invalid for a start date, which issues do not have."""
    dates = _widget(sent, "startAndDueDate")
    if dates.get("startDate") is not None:
        raise Invalid("Issues have a due date only")
    params = renamed(_widget(sent, "description"), description="description")
    params |= renamed(dates, due_date="dueDate")
    params |= renamed(_widget(sent, "notes"), discussion_locked="discussionLocked")
    params |= optional_number(_widget(sent, "milestone"), "milestoneId")
    if "assigneeIds" in _widget(sent, "assignees"):
        params["assignee_ids"] = [row_number(each) for each in _widget(sent, "assignees")["assigneeIds"]]
    labels = _widget(sent, "labels")
    for name, field in (("labels", "labelIds"), ("add_labels", "addLabelIds"), ("remove_labels", "removeLabelIds")):
        if labels.get(field):
            params[name] = label_titles(context, [row_number(each) for each in labels[field]])
    return params


def _link(context: QueryContext, place: SubjectPath, sent: Input) -> int:
    """Link issues to one, unless they already are; return their number."""
    numbers = [_number(each) for each in sent["workItemsIds"]]
    if len(numbers) > _MAX_LINKED:
        raise Invalid(f"No more than {_MAX_LINKED} work items can be modified at the same time.")
    link_type = _LINK_TYPES[sent.get("linkType") or "RELATED"]
    for number in numbers:
        target = issue_path(context, number).path
        params = {"target_project_id": str(target["id"]), "target_issue_iid": target["issue_iid"]}
        context.call(f"POST {place.route}/links", {**params, "link_type": link_type}, **place.path)
    return len(numbers)


@resolvers.mutation("workItemAddLinkedItems")
def add_linked_items(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Link issues to one."""
    place = _place(context, sent)
    count = _link(context, place, sent)
    context.forget()
    return {"work_item": issue_by_id(context, _number(sent["id"])), "message": f"Linked {count} items."}


@resolvers.mutation("workItemRemoveLinkedItems")
def remove_linked_items(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete the links between issues and one."""
    place = _place(context, sent)
    numbers = [_number(each) for each in sent["workItemsIds"]]
    if len(numbers) > _MAX_LINKED:
        raise Invalid(f"No more than {_MAX_LINKED} work items can be modified at the same time.")
    links = _links_by_issue(context, place)
    missing = [number for number in numbers if number not in links]
    if missing:
        raise Invalid(f"Work item {missing[0]} is not linked")
    for number in numbers:
        context.call(f"DELETE {place.route}/links/:issue_link_id", **place.path, issue_link_id=links[number])
    context.forget()
    return {"work_item": issue_by_id(context, _number(sent["id"])), "message": f"Unlinked {len(numbers)} items."}


def _links_by_issue(context: QueryContext, place: SubjectPath) -> dict[int, int]:
    """Return the ids of all links of an issue by the ids of the other issues."""
    links: dict[int, int] = {}
    page = 1
    while True:
        found = context.call(f"GET {place.route}/links", {"per_page": MAX_PAGE_SIZE, "page": page}, **place.path).items
        links |= {link.id: link.issue_link_id for link in found}
        if len(found) < MAX_PAGE_SIZE:
            return links
        page += 1
