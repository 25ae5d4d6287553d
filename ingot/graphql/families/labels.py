"""Labels."""

from collections.abc import Sequence
from typing import Any

from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import render_line_html
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
resolvers.rename("Label", title="name")


@resolvers.single("Project.labels")
def list_project_labels(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the labels of a project."""
    return _labels(context, "/projects/:id/labels", project, arguments)


@resolvers.single("Group.labels")
def list_group_labels(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the labels of a group."""
    return _labels(context, "/groups/:id/labels", group, arguments)


def _labels(context: QueryContext, route: str, parent: Any, arguments: Arguments) -> ConnectionPage:
    if arguments.get("title") is not None:
        label = context.call(f"GET {route}/:label_id", id=parent.id, label_id=arguments["title"])
        return connection_of([label], arguments)
    params = {
        "search": arguments.get("searchTerm"),
        "include_ancestor_groups": arguments.get("includeAncestorGroups"),
        "include_descendant_groups": arguments.get("includeDescendantGroups"),
        "only_group_labels": arguments.get("onlyGroupLabels"),
        "with_counts": False,
    }
    return listed(context, f"GET {route}", arguments, params, id=parent.id)


@resolvers.single("Project.label")
def find_project_label(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return a label of a project by its title."""
    return context.call("GET /projects/:id/labels/:label_id", id=project.id, label_id=arguments["title"])


@resolvers.single("Group.label")
def find_group_label(context: QueryContext, group: Any, arguments: Arguments) -> Any:
    """Return a label of a group by its title."""
    return context.call("GET /groups/:id/labels/:label_id", id=group.id, label_id=arguments["title"])


@resolvers.value("Label.id")
def label_id(_: QueryContext, label: Any) -> str:
    """Return the global id."""
    model = "GroupLabel" if getattr(label, "is_project_label", True) is False else "ProjectLabel"
    return to_global_id(model, label.id)


@resolvers.batch("Label.descriptionHtml")
def description_html(context: QueryContext, labels: Sequence[Any], _: Arguments) -> list[str | None]:
    """Return the descriptions as HTML."""
    return render_line_html(context, labels, lambda label: label.description, lambda _: None)
