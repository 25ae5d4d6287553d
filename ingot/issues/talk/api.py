"""What people say about issues over the API; how it works is the same for whatever is talked about."""

from collections.abc import Sequence

from ingot.access.levels import Access
from ingot.api.routes import Call, Routes
from ingot.commands.desk import Obeyed
from ingot.emoji.api import award_routes
from ingot.histories.api import history_routes
from ingot.issues.api import issue_in_path
from ingot.issues.commands.known import ISSUES
from ingot.issues.commands.obeying import obey_commands
from ingot.issues.service import subject_of
from ingot.issues.talk.policy import reach
from ingot.markup.commands import Command
from ingot.notes.api import Orders, discussion_routes, note_routes
from ingot.notes.params import WriteNote
from ingot.subjects import Reached
from ingot.todos.api import todo_routes

routes = Routes("issues")


def issue_subject_in_path(call: Call) -> tuple[Access, Reached]:
    """The issue that the path names, as something that is talked about."""
    here, found = issue_in_path(call)
    return here, reach(call.actor, here, found, subject_of(found.issue))


def _obey(call: Call, _: WriteNote, commands: Sequence[Command]) -> Obeyed:
    return obey_commands(call.db, call.actor, issue_in_path(call)[1], commands)


orders = Orders(ISSUES.names, _obey)
note_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path, orders)
discussion_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path, orders=orders)
award_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
history_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
todo_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
