"""Work items: issues under the names of GitLab's newer schema."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.collaboration.issues.hierarchy import children_of, parents_of
from ingot.collaboration.issues.service import MAX_ASSIGNEES
from ingot.collaboration.issues.views import IssueView
from ingot.graphql.connections import ConnectionPage, connection_of, listed, paged_backwards
from ingot.graphql.context import QueryContext
from ingot.graphql.families.groups import is_project
from ingot.graphql.families.issues import issue_by_id, list_linked_issues
from ingot.graphql.families.notes import list_discussions, list_notes, subject_path
from ingot.graphql.families.timelogs import TimelogPage, list_subject_timelogs
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_issues, load_labels, load_projects, render_html
from ingot.graphql.params import issue_filters
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
resolvers.rename("WorkItem", name="title")
TYPE_NUMBERS = {"issue": 1, "incident": 2, "task": 5}
"""Types with the numbers that they have in GitLab."""
_TYPES = {
    name: {
        "id": to_global_id("WorkItems::Type", number),
        "name": name.capitalize(),
        "icon_name": f"work-item-{name}",
        "base_type": name,
    }
    for name, number in TYPE_NUMBERS.items()
}


class Widget(msgspec.Struct):
    """A part of a work item."""

    issue: IssueView
    type: str


class DescriptionWidget(Widget):
    """The description."""


class AssigneesWidget(Widget):
    """The assignees."""


class LabelsWidget(Widget):
    """The labels."""


class MilestoneWidget(Widget):
    """The milestone."""


class NotesWidget(Widget):
    """The notes."""


class HierarchyWidget(Widget):
    """The issue that contains a task, or the tasks of an issue."""


class DatesWidget(Widget):
    """The due date."""


class LinkedItemsWidget(Widget):
    """The links to other issues."""


class DevelopmentWidget(Widget):
    """The merge requests and branches of an issue."""


class AwardEmojiWidget(Widget):
    """The award emoji."""


class TimeTrackingWidget(Widget):
    """The estimate and the time spent."""


class WidgetDefinition(msgspec.Struct):
    """A widget that work items of a type have."""

    kind: str
    """The type of work items."""
    type: str


class HierarchyDefinition(WidgetDefinition):
    """The types that work items of a type may contain or be contained in."""


_WIDGETS = {
    "DESCRIPTION": DescriptionWidget,
    "ASSIGNEES": AssigneesWidget,
    "LABELS": LabelsWidget,
    "MILESTONE": MilestoneWidget,
    "NOTES": NotesWidget,
    "HIERARCHY": HierarchyWidget,
    "START_AND_DUE_DATE": DatesWidget,
    "LINKED_ITEMS": LinkedItemsWidget,
    "TIME_TRACKING": TimeTrackingWidget,
    "DEVELOPMENT": DevelopmentWidget,
    "AWARD_EMOJI": AwardEmojiWidget,
}
resolvers.types |= {
    DescriptionWidget: "WorkItemWidgetDescription",
    AssigneesWidget: "WorkItemWidgetAssignees",
    LabelsWidget: "WorkItemWidgetLabels",
    MilestoneWidget: "WorkItemWidgetMilestone",
    NotesWidget: "WorkItemWidgetNotes",
    HierarchyWidget: "WorkItemWidgetHierarchy",
    DatesWidget: "WorkItemWidgetStartAndDueDate",
    LinkedItemsWidget: "WorkItemWidgetLinkedItems",
    TimeTrackingWidget: "WorkItemWidgetTimeTracking",
    DevelopmentWidget: "WorkItemWidgetDevelopment",
    AwardEmojiWidget: "WorkItemWidgetAwardEmoji",
    WidgetDefinition: "WorkItemWidgetDefinitionGeneric",
    HierarchyDefinition: "WorkItemWidgetDefinitionHierarchy",
}


@resolvers.single("Query.workItem")
def find_work_item(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return an issue by its id."""
    return issue_by_id(context, number_of(arguments["id"], "WorkItem", "Issue"))


@resolvers.single("Project.workItems")
def list_work_items(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the issues of a project."""
    return listed(context, "GET /projects/:id/issues", arguments, issue_filters(arguments), id=project.id)


@resolvers.single("Namespace.workItem")
def find_work_item_of_namespace(context: QueryContext, namespace: Any, arguments: Arguments) -> Any:
    """Return an issue of a project by its number; other namespaces have none of their own."""
    if not is_project(namespace):
        return None
    return context.call("GET /projects/:id/issues/:issue_iid", id=namespace.id, issue_iid=arguments["iid"])


@resolvers.single("Namespace.workItems", "Group.workItems")
def list_work_items_of_namespace(context: QueryContext, namespace: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the issues of a project, or with ``includeDescendants`` of the projects of a group."""
    if is_project(namespace):
        return list_work_items(context, namespace, arguments)
    if not arguments.get("includeDescendants") or getattr(namespace, "kind", "group") != "group":
        return connection_of([], arguments)
    return listed(context, "GET /groups/:id/issues", arguments, issue_filters(arguments), id=namespace.id)


@resolvers.batch("Project.workItemTypes", "Group.workItemTypes", "Namespace.workItemTypes")
def list_types(_: QueryContext, parents: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the types of work items."""
    name = arguments.get("name")
    types = [each for base_type, each in _TYPES.items() if name in (None, base_type.upper())]
    return [connection_of(types, arguments) for _ in parents]


@resolvers.value("WorkItemType.supportedConversionTypes")
def list_conversion_types(_: QueryContext, kind: Any) -> list[Any]:
    """Return the types that a work item of a type can be converted to."""
    return [each for each in _TYPES.values() if each is not kind]


@resolvers.value("WorkItemType.widgetDefinitions")
def list_widget_definitions(_: QueryContext, kind: Any) -> list[WidgetDefinition]:
    """Return the widgets that work items of a type have."""
    special = {"HIERARCHY": HierarchyDefinition}
    return [special.get(name, WidgetDefinition)(kind["base_type"], name) for name in _WIDGETS]


@resolvers.batch("WorkItemWidgetDefinitionHierarchy.allowedChildTypes")
def list_child_types(
    _: QueryContext, definitions: Sequence[WidgetDefinition], arguments: Arguments
) -> list[ConnectionPage]:
    """Return the types of the items that work items of a type may contain."""
    return [connection_of([_TYPES["task"]] if each.kind != "task" else [], arguments) for each in definitions]


@resolvers.batch("WorkItemWidgetDefinitionHierarchy.allowedParentTypes")
def list_parent_types(
    _: QueryContext, definitions: Sequence[WidgetDefinition], arguments: Arguments
) -> list[ConnectionPage]:
    """Return the types of the items that may contain work items of a type."""
    parents = [_TYPES["issue"], _TYPES["incident"]]
    return [connection_of(parents if each.kind == "task" else [], arguments) for each in definitions]


@resolvers.value("WorkItem.id")
def work_item_id(_: QueryContext, issue: Any) -> str:
    """Return the global id."""
    return to_global_id("WorkItem", issue.id)


@resolvers.value("WorkItem.state", "LinkedWorkItemType.workItemState")
def work_item_state(_: QueryContext, issue: Any) -> str:
    """Return the state."""
    return "CLOSED" if issue.state == "closed" else "OPEN"


@resolvers.value("WorkItem.workItemType")
def work_item_type(_: QueryContext, issue: Any) -> dict[str, str]:
    """Return the type."""
    return _TYPES[issue.issue_type]


@resolvers.batch("WorkItem.namespace")
def find_namespaces(context: QueryContext, issues: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the projects, which are the namespaces of their issues."""
    found = load_projects(context, [issue.project_id for issue in issues])
    return [found[issue.project_id] for issue in issues]


@resolvers.batch("WorkItem.widgets")
def list_widgets(_: QueryContext, issues: Sequence[Any], arguments: Arguments) -> list[list[Widget]]:
    """Return the parts of work items."""
    wanted = arguments.get("onlyTypes")
    names = [name for name in _WIDGETS if wanted is None or name in wanted]
    return [[_WIDGETS[name](issue, name) for name in names] for issue in issues]


@resolvers.value("WorkItemWidgetDescription.description")
def widget_description(_: QueryContext, widget: Widget) -> str | None:
    """Return the description."""
    return widget.issue.description


@resolvers.batch("WorkItemWidgetDescription.descriptionHtml")
def widget_html(context: QueryContext, widgets: Sequence[Widget], _: Arguments) -> list[str | None]:
    """Return the descriptions as HTML."""
    return render_html(
        context, widgets, lambda widget: widget.issue.description, lambda widget: widget.issue.project_id
    )


@resolvers.batch("WorkItemWidgetAssignees.assignees")
def widget_assignees(_: QueryContext, widgets: Sequence[Widget], arguments: Arguments) -> list[ConnectionPage]:
    """Return the assignees."""
    return [connection_of(widget.issue.assignees, arguments) for widget in widgets]


@resolvers.value("WorkItemWidgetAssignees.allowsMultipleAssignees")
def allows_several(_: QueryContext, __: Any) -> bool:
    """Return whether a work item may have several assignees."""
    return MAX_ASSIGNEES > 1


@resolvers.batch("WorkItemWidgetLabels.labels")
def widget_labels(context: QueryContext, widgets: Sequence[Widget], arguments: Arguments) -> list[ConnectionPage]:
    """Return the labels."""
    loaded = load_labels(context, "issue", [widget.issue.id for widget in widgets])
    return [connection_of(loaded[widget.issue.id] or [], arguments) for widget in widgets]


@resolvers.value("WorkItemWidgetLabels.allowsScopedLabels")
def allows_scoped_labels(_: QueryContext, __: Any) -> bool:
    """Return that labels with the same scope do not exclude each other."""
    return False


@resolvers.value("WorkItemWidgetMilestone.milestone")
def widget_milestone(_: QueryContext, widget: Widget) -> Any:
    """Return the milestone."""
    return widget.issue.milestone


@resolvers.value("WorkItemWidgetNotes.discussionLocked")
def widget_lock(_: QueryContext, widget: Widget) -> bool:
    """Return whether only members may comment."""
    return widget.issue.discussion_locked


@resolvers.single("WorkItemWidgetNotes.discussions")
def widget_discussions(context: QueryContext, widget: Widget, arguments: Arguments) -> ConnectionPage:
    """Return the discussions, the oldest first unless told otherwise."""
    if arguments.get("sort") != "CREATED_DESC":
        return list_discussions(context, widget.issue, arguments)
    place = subject_path(widget.issue)

    def fetch(number: int, size: int) -> Any:
        return context.call(f"GET {place.route}/discussions", {"page": number, "per_page": size}, **place.path)

    return paged_backwards(fetch, arguments)


@resolvers.single("WorkItemWidgetNotes.notes")
def widget_notes(context: QueryContext, widget: Widget, arguments: Arguments) -> ConnectionPage:
    """Return the notes."""
    return list_notes(context, widget.issue, arguments)


def _parents(context: QueryContext, widgets: Sequence[Widget]) -> list[IssueView | None]:
    """Return the issues that contain tasks, if the caller may see them."""
    ids = {widget.issue.id for widget in widgets}
    numbers = context.load("parents", ids, lambda missing: context.read(lambda db: parents_of(db, missing)))
    views = load_issues(context, {number for number in numbers.values() if number is not None})
    return [views.get(numbers[widget.issue.id] or 0) for widget in widgets]


def _children(context: QueryContext, widgets: Sequence[Widget]) -> list[list[IssueView]]:
    """Return the tasks of issues that the caller may see."""
    ids = {widget.issue.id for widget in widgets}
    numbers = context.load("children", ids, lambda missing: context.read(lambda db: children_of(db, missing)))
    views = load_issues(context, {number for each in numbers.values() for number in each or ()})
    found = [[views[number] for number in numbers[widget.issue.id] or ()] for widget in widgets]
    return [[view for view in each if view is not None] for each in found]


@resolvers.batch("WorkItemWidgetHierarchy.parent")
def widget_parent(context: QueryContext, widgets: Sequence[Widget], _: Arguments) -> list[IssueView | None]:
    """Return the issue that contains a task."""
    return _parents(context, widgets)


@resolvers.batch("WorkItemWidgetHierarchy.hasParent")
def has_parent(context: QueryContext, widgets: Sequence[Widget], _: Arguments) -> list[bool]:
    """Return whether an issue contains the work item."""
    return [parent is not None for parent in _parents(context, widgets)]


@resolvers.batch("WorkItemWidgetHierarchy.ancestors")
def widget_ancestors(context: QueryContext, widgets: Sequence[Widget], arguments: Arguments) -> list[ConnectionPage]:
    """Return the parent as the only ancestor: issues have none."""
    return [connection_of([parent] if parent else [], arguments) for parent in _parents(context, widgets)]


@resolvers.batch("WorkItemWidgetHierarchy.children")
def widget_children(context: QueryContext, widgets: Sequence[Widget], arguments: Arguments) -> list[ConnectionPage]:
    """Return the tasks of an issue."""
    state = arguments.get("state")
    return [
        connection_of([child for child in children if state in (None, "all", child.state)], arguments)
        for children in _children(context, widgets)
    ]


@resolvers.batch("WorkItemWidgetHierarchy.hasChildren")
def has_children(context: QueryContext, widgets: Sequence[Widget], _: Arguments) -> list[bool]:
    """Return whether the work item contains others."""
    return [bool(children) for children in _children(context, widgets)]


@resolvers.single("WorkItemWidgetLinkedItems.linkedItems")
def widget_links(context: QueryContext, widget: Widget, arguments: Arguments) -> ConnectionPage:
    """Return the issues that an issue is linked to."""
    return list_linked_issues(context, widget.issue, arguments)


@resolvers.value("WorkItemWidgetStartAndDueDate.startDate")
def widget_start_date(_: QueryContext, __: Widget) -> None:
    """Return null: issues have a due date only."""
    return


@resolvers.value("WorkItemWidgetTimeTracking.timeEstimate")
def widget_estimate(_: QueryContext, widget: Widget) -> int:
    """Return the estimated seconds."""
    return widget.issue.time_stats.time_estimate


@resolvers.value("WorkItemWidgetTimeTracking.totalTimeSpent")
def widget_time_spent(_: QueryContext, widget: Widget) -> int:
    """Return the seconds spent."""
    return widget.issue.time_stats.total_time_spent


@resolvers.value("WorkItemWidgetTimeTracking.humanReadableAttributes")
def widget_durations(_: QueryContext, widget: Widget) -> Any:
    """Return the estimate and the time spent as people read them."""
    return widget.issue.time_stats


resolvers.rename(
    "TimeTrackingHumanReadableAttributes", timeEstimate="human_time_estimate", totalTimeSpent="human_total_time_spent"
)


@resolvers.batch("WorkItemWidgetTimeTracking.timelogs")
def widget_timelogs(context: QueryContext, widgets: Sequence[Widget], arguments: Arguments) -> list[TimelogPage]:
    """Return the entries of the time spent."""
    return list_subject_timelogs(context, [widget.issue for widget in widgets], arguments)


@resolvers.value("WorkItemWidgetStartAndDueDate.dueDate")
def widget_due_date(_: QueryContext, widget: Widget) -> str | None:
    """Return the due date."""
    return widget.issue.due_date
