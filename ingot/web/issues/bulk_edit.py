"""Bulk edit of the issues or merge requests of a list: the form above the list, and the changes that it makes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues import policy as issues_policy
from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests import policy as merge_requests_policy
from ingot.collaboration.merge_requests.editing import api as merge_request_editing_api
from ingot.core.access.levels import Level
from ingot.core.errors import NotFound
from ingot.projects.groups import api as groups_api
from ingot.projects.sharing import api as sharing_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.formats import with_query
from ingot.web.issues.group_context import GroupContext, ProjectOrGroupContext
from ingot.web.page_routes import PageRequest, Visit, form_field

MAX_ITEMS = 100
"""Rows of a list that is being edited, and items that one form may change."""
_CLEARED = "0"
"""Value of the choice that removes the milestone or the users."""


class BulkKind(NamedTuple):
    """Issues or merge requests, with what their form offers."""

    form: str
    """Name of the fields' group, as in the form of a single item."""
    mark: str
    """Character before the number in a reference."""
    edit: Callable[..., Any]
    path_parameter: str
    people: tuple[str, ...]
    """Fields that hold users."""


ISSUES = BulkKind("issue", "#", issues_api.edit_issue, "issue_iid", ("assignee_ids",))
MERGE_REQUESTS = BulkKind(
    "merge_request",
    "!",
    merge_request_editing_api.edit_merge_request,
    "merge_request_iid",
    ("assignee_ids", "reviewer_ids"),
)


class Refusal(NamedTuple):
    """A reason for which items were not changed, and the references of these items."""

    reason: str
    references: list[str]


class BulkOutcome(NamedTuple):
    """Result of a form of which not everything could be changed."""

    errors: Sequence[str] = ()
    """Mistakes of the form, because of which nothing was changed."""
    changed: int = 0
    refusals: Sequence[Refusal] = ()


class BulkForm(msgspec.Struct, frozen=True):
    """Form above a list, for users who may edit all of its items."""

    kind: BulkKind
    action: str
    selected: frozenset[str]
    """References of the selected items."""
    selects_all: bool
    typed: dict[str, Any]
    users: Sequence[Any]
    outcome: BulkOutcome

    def is_selected(self, reference: str) -> bool:
        """Return whether the row with this reference is selected."""
        return self.selects_all or reference in self.selected


def may_bulk_edit(parent: ProjectOrGroupContext, kind: BulkKind) -> bool:
    """Return whether the viewer may set labels, milestones and assignees of all items of the list."""
    actor = parent.visit.viewer.actor
    if not actor.known:
        return False
    if isinstance(parent, GroupContext):
        may_triage_issues = parent.may(labels_api.create_group_label)
        return may_triage_issues and (kind is ISSUES or actor.admin or _is_developer(parent, actor.user_id))
    if kind is ISSUES:
        scope = parent.find(issues_api.list_project_issues)
        return issues_policy.may_triage(actor, scope.access, scope.project)
    scope = parent.find(merge_requests_api.list_project_merge_requests)
    return merge_requests_policy.may_triage(actor, scope.access, scope.project)


def _is_developer(parent: GroupContext, user_id: int) -> bool:
    try:
        return parent.ask(groups_api.get_any_group_member, user_id=user_id).access_level >= Level.DEVELOPER
    except NotFound:
        return False


def bulk_params(visit: Visit) -> dict[str, Any]:
    """Return the parameters of a list that is being edited, which shows more rows."""
    active = visit.request.query.get("bulk") or visit.request.form.get("items")
    return {"per_page": MAX_ITEMS} if active else {}


def bulk_context(
    parent: ProjectOrGroupContext, kind: BulkKind, list_url: str, outcome: BulkOutcome | None = None
) -> dict[str, Any]:
    """Return what a list shows of the bulk edit: nothing, the link that begins it, or the form."""
    query, form = parent.visit.request.query, parent.visit.request.form
    offered = may_bulk_edit(parent, kind)
    if not offered or not (query.get("bulk") or outcome):
        return {"may_bulk_edit": offered, "bulk": None}
    members = parent.either(sharing_api.list_all_project_members, groups_api.list_all_group_members)
    return {
        "may_bulk_edit": True,
        "bulk": BulkForm(
            kind,
            f"{list_url}/bulk_update{with_query(query, bulk=None, page=None)}",
            frozenset(_selected(form)),
            query.get("bulk") == "all",
            _typed(kind, form),
            parent.ask(members, {"per_page": 100}).items,
            outcome or BulkOutcome(),
        ),
    }


def update_selected(parent: ProjectOrGroupContext, kind: BulkKind) -> BulkOutcome | None:
    """Change the selected items, each as its own edit; return None if all were changed.

    Raises NotFound if the viewer may not triage here, because the endpoints ignore some fields of those who may not.
    """
    if not may_bulk_edit(parent, kind):
        raise NotFound("Page")
    form = parent.visit.request.form
    selected, changes = _selected(form), _changes(kind, _typed(kind, form))
    errors = []
    if not selected:
        errors.append("Select at least one item.")
    if len(selected) > MAX_ITEMS:
        errors.append("Select at most 100 items.")
    if not changes:
        errors.append("Choose at least one change.")
    if errors:
        return BulkOutcome(errors)
    refusals: dict[str, list[str]] = {}
    for reference in selected:
        for reason in _refusal(parent, kind, reference, changes):
            refusals.setdefault(reason, []).append(reference)
    if not refusals:
        return None
    refused = {reference for references in refusals.values() for reference in references}
    return BulkOutcome((), len(selected) - len(refused), [Refusal(*refusal) for refusal in refusals.items()])


def bulk_notice(one: str, several: str) -> Callable[[PageRequest], str]:
    """Return a function that says how many items were changed; it is used if all of them were."""

    def notice(request: PageRequest) -> str:
        number = len(_selected(request.form))
        return one if number == 1 else f"{number} {several}"

    return notice


def _refusal(parent: ProjectOrGroupContext, kind: BulkKind, reference: str, changes: dict[str, Any]) -> list[str]:
    """Change one item; return the reasons if it was refused."""
    path, _, iid = reference.rpartition(kind.mark)
    try:
        if not (_is_below(parent, path) and iid.isascii() and iid.isdigit() and len(iid) < 19):
            raise NotFound("This item")
        parent.visit.ask(kind.edit, changes, id=path, **{kind.path_parameter: iid})
    except REQUEST_ERRORS as error:
        return error_messages(error)
    return []


def _is_below(parent: ProjectOrGroupContext, path: str) -> bool:
    if isinstance(parent, GroupContext):
        return path.startswith(f"{parent.group.full_path}/")
    return path == parent.project.path_with_namespace


def _selected(form: dict[str, Any]) -> list[str]:
    return _texts(form.get("items"))


def _typed(kind: BulkKind, form: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the form."""
    typed: dict[str, Any] = {
        name: form_field(form, kind.form, name) for name in ("state_event", "milestone_id", "confidential")
    }
    fields = form.get(kind.form)
    for name in ("add_labels", "remove_labels", *kind.people):
        typed[name] = _texts(fields.get(name)) if isinstance(fields, dict) else []
    return typed


def _changes(kind: BulkKind, typed: dict[str, Any]) -> dict[str, Any]:
    """Return the API parameters for the fields that were filled in."""
    changes: dict[str, Any] = {name: typed[name] for name in ("add_labels", "remove_labels") if typed[name]}
    if typed["state_event"] in ("close", "reopen"):
        changes["state_event"] = typed["state_event"]
    if kind is ISSUES and typed["confidential"] in ("true", "false"):
        changes["confidential"] = typed["confidential"]
    if typed["milestone_id"]:
        changes["milestone_id"] = None if typed["milestone_id"] == _CLEARED else typed["milestone_id"]
    for name in kind.people:
        if typed[name]:
            changes[name] = [] if _CLEARED in typed[name] else typed[name]
    return changes


def _texts(values: Any) -> list[str]:
    values = values if isinstance(values, list) else []
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value and "\0" not in value))
