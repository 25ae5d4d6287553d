"""Columns of a board with their cards: filtered, and in one lane for each assignee if the user wants that."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.accounts.users.views import UserBrief
from ingot.collaboration.boards.moves import list_filters, list_name
from ingot.collaboration.boards.views import BoardListView, BoardView
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.views import IssueView
from ingot.web.filters import ListFilters
from ingot.web.issues.group_context import ProjectOrGroupContext

OPEN, CLOSED = "open", "closed"
MAX_CARDS = 50
_MAX_EXCLUDED = 20
_ANY = ("Any", "any")


class BoardColumn(msgspec.Struct, frozen=True):
    """Column of a board: a list, or all other open or all closed issues."""

    key: str
    """Id of the list, or ``open`` or ``closed``."""
    name: str
    board_list: BoardListView | None
    cards: list[IssueView]
    total: int | None

    @property
    def limit(self) -> int:
        """Return the number of issues that the list should not exceed; 0 is no limit."""
        return self.board_list.max_issue_count if self.board_list else 0

    @property
    def exceeded(self) -> bool:
        """Return whether there are more issues than the limit of the list allows."""
        return bool(self.limit) and (self.total is None or self.total > self.limit)


class BoardLane(msgspec.Struct, frozen=True):
    """Row of a board: the cards of one assignee in every column, or those without assignee."""

    assignee: UserBrief | None
    cards: list[list[IssueView]]
    """Of each column, in the order of the columns."""

    @property
    def key(self) -> str:
        """Return the id of the assignee, or ``0``."""
        return str(self.assignee.id if self.assignee else 0)

    @property
    def total(self) -> int:
        """Return the number of cards."""
        return sum(len(cards) for cards in self.cards)


def board_columns(parent: ProjectOrGroupContext, board: BoardView, filters: ListFilters) -> list[BoardColumn]:
    """Return the columns with the issues that match the filters, with one list of issues for each column."""
    columns = [
        _column(parent, str(each.id), list_name(each), _merge(list_filters(each), filters), each)
        for each in board.lists
    ]
    if not board.hide_backlog_list:
        rest = {**filters.filter_params, "not": excluded} if (excluded := _excluded(board)) else filters.filter_params
        columns.insert(0, _column(parent, OPEN, "Open", rest))
    if not board.hide_closed_list:
        columns.append(_column(parent, CLOSED, "Closed", filters.filter_params))
    return columns


def board_lanes(columns: Sequence[BoardColumn]) -> list[BoardLane]:
    """Return the cards of the columns by assignee; a card with several assignees is in the lane of each of them."""
    people = {person.id: person for column in columns for card in column.cards for person in card.assignees}
    lanes = [
        BoardLane(person, [[card for card in column.cards if person in card.assignees] for column in columns])
        for person in sorted(people.values(), key=lambda person: person.name.casefold())
    ]
    return [*lanes, BoardLane(None, [[card for card in column.cards if not card.assignees] for column in columns])]


def _excluded(board: BoardView) -> dict[str, Any]:
    """Return what the open issues outside of all lists do not have."""
    excluded: dict[str, Any] = {
        "labels": [each.label.name for each in board.lists if each.label][:_MAX_EXCLUDED],
        "assignee_username": [each.assignee.username for each in board.lists if each.assignee],
        "milestone_ids": [each.milestone.id for each in board.lists if each.milestone],
    }
    return {name: values for name, values in excluded.items() if values}


def _merge(own: dict[str, Any], filters: ListFilters) -> dict[str, Any] | None:
    """Return the parameters that find the issues of a list that match the filters; None if there cannot be any."""
    params = filters.filter_params
    if "labels" in own:
        return params | {"labels": [*own["labels"], *params.get("labels", ())]}
    name, value = next(iter(own.items()))
    if name == "milestone":
        return params | own if params.get(name) in (None, *_ANY, value) else None
    wanted = params.pop("assignee_id", None) or params.get(name)
    return params | own if wanted in (None, *_ANY, value[0]) else None


def _column(
    parent: ProjectOrGroupContext,
    key: str,
    name: str,
    filters: dict[str, Any] | None,
    board_list: BoardListView | None = None,
) -> BoardColumn:
    if filters is None:
        return BoardColumn(key, name, board_list, [], 0)
    order = {"order_by": "relative_position", "sort": "asc"} if key != CLOSED else {"order_by": "updated_at"}
    state = {"state": "closed" if key == CLOSED else "opened"}
    params = {**filters, **state, **order, "per_page": MAX_CARDS, "with_labels_details": "true"}
    issues = parent.ask(parent.either(issues_api.list_project_issues, issues_api.list_group_issues), params)
    return BoardColumn(key, name, board_list, issues.items, issues.total)
