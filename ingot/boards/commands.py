"""The command of issues that moves them on the board."""

from ingot.boards.queries import list_boards, lists_of
from ingot.commands.planning import labels_named
from ingot.db.paging import Page
from ingot.issues.commands.known import ISSUES, IssueDesk
from ingot.projects.queries import source_of


@ISSUES.on("board_move")
def move_on_board(desk: IssueDesk, name: str) -> str | None:
    """Let it stand in another list, where the project has one board only, so that it is clear which is meant."""
    named = labels_named(desk, name) if desk.triages and desk.found is not None else []
    found = list_boards(desk.db, source_of(desk.project), Page(size=2)).items if len(named) == 1 else []
    if len(found) != 1:
        return None
    standing = [each.label for each in lists_of(desk.db, [found[0].id]).get(found[0].id, [])]
    if named[0].id not in [label.id for label in standing]:
        return None
    desk.wish_more("remove_labels", [label.title for label in standing if label.id != named[0].id])
    desk.wish_more("add_labels", [named[0].title])
    return f"Moved issue to ~{named[0].title} column in the board."
