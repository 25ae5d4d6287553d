"""The command of issues that moves them on the board."""

from ingot.collaboration.boards.queries import list_boards, lists_by_board
from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS, IssueCommandContext
from ingot.collaboration.quick_actions.definitions import labels_named
from ingot.core.db.paging import Page
from ingot.projects.projects.queries import member_source


@ISSUE_COMMANDS.on("board_move")
def move_on_board(context: IssueCommandContext, name: str) -> str | None:
    """Let it stand in another list, where the project has one board only, so that it is clear which is meant."""
    named = labels_named(context, name) if context.may_triage and context.lookup is not None else []
    found = list_boards(context.db, member_source(context.project), Page(size=2)).items if len(named) == 1 else []
    if len(found) != 1:
        return None
    standing = [each.label for each in lists_by_board(context.db, [found[0].id]).get(found[0].id, [])]
    if named[0].id not in [label.id for label in standing]:
        return None
    context.extend_edit("remove_labels", [label.title for label in standing if label.id != named[0].id])
    context.extend_edit("add_labels", [named[0].title])
    return f"Moved issue to ~{named[0].title} column in the board."
