"""Changes of an issue whose card is moved between the lists of a board."""

from collections.abc import Collection
from typing import Any

from ingot.collaboration.boards.views import BoardListView
from ingot.collaboration.issues.views import IssueView
from ingot.collaboration.labels.views import LabelBrief


def move_changes(issue: IssueView, left: Collection[BoardListView], entered: BoardListView | None) -> dict[str, Any]:
    """Return the parameters of the edit that takes an issue out of some lists and into another one."""
    names = {label.name if isinstance(label, LabelBrief) else label for label in issue.labels}
    removed = [each.label.name for each in left if each.label and each.label.name in names]
    params: dict[str, Any] = {"remove_labels": removed} if removed else {}
    if entered is not None and entered.label:
        params["add_labels"] = [entered.label.name]
    assignees = {person.id for person in issue.assignees}
    assigned = assignees - {each.assignee.id for each in left if each.assignee}
    if entered is not None and entered.assignee:
        assigned.add(entered.assignee.id)
    if assigned != assignees:
        params["assignee_ids"] = sorted(assigned)
    if entered is not None and entered.milestone:
        params["milestone_id"] = entered.milestone.id
    elif issue.milestone is not None and issue.milestone.id in {each.milestone.id for each in left if each.milestone}:
        params["milestone_id"] = None
    return params


def list_name(board_list: BoardListView) -> str:
    """Return the name of a list, which is that of its label, assignee or milestone."""
    if board_list.label:
        return board_list.label.name
    if board_list.assignee:
        return board_list.assignee.name
    return board_list.milestone.title if board_list.milestone else ""


def list_filters(board_list: BoardListView) -> dict[str, Any]:
    """Return the parameters that find the issues of a list."""
    if board_list.label:
        return {"labels": [board_list.label.name]}
    if board_list.assignee:
        return {"assignee_username": [board_list.assignee.username]}
    return {"milestone": board_list.milestone.title} if board_list.milestone else {}
