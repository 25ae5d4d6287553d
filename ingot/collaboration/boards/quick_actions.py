"""The ``/board_move`` quick action of issues."""

from ingot.collaboration.boards.queries import list_boards, lists_by_board
from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS, IssueCommandContext
from ingot.collaboration.quick_actions.definitions import labels_named
from ingot.core.db.paging import Page
from ingot.projects.projects.queries import member_source


@ISSUE_COMMANDS.on("board_move")
def move_on_board(context: IssueCommandContext, name: str) -> str | None:
    """Move the issue to another list; ignored unless the project has exactly one board."""
    target_labels = labels_named(context, name) if context.may_triage and context.lookup is not None else []
    boards = (
        list_boards(context.db, member_source(context.project), Page(size=2)).items if len(target_labels) == 1 else []
    )
    if len(boards) != 1:
        return None
    list_labels = [entry.label for entry in lists_by_board(context.db, [boards[0].id]).get(boards[0].id, [])]
    if target_labels[0].id not in [label.id for label in list_labels]:
        return None
    context.extend_edit("remove_labels", [label.title for label in list_labels if label.id != target_labels[0].id])
    context.extend_edit("add_labels", [target_labels[0].title])
    return f"Moved issue to ~{target_labels[0].title} column in the board."
