"""What people say about issues over the API; how it works is the same for whatever is talked about."""

from collections.abc import Sequence

from ingot.collaboration.emoji.api import declare_award_routes
from ingot.collaboration.issues.api import issue_in_path
from ingot.collaboration.issues.discussions.policy import issue_subject_access
from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS
from ingot.collaboration.issues.quick_actions.execute import execute_commands
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.notes.api import NoteCommands, discussion_routes, note_routes
from ingot.collaboration.notes.params import WriteNote
from ingot.collaboration.quick_actions.command_context import CommandResult
from ingot.collaboration.resource_events.api import resource_event_routes
from ingot.collaboration.subjects import SubjectAccess
from ingot.collaboration.todos.api import declare_todo_routes
from ingot.core.access.levels import Access
from ingot.core.api.routes import Call, Routes
from ingot.core.markup.quick_actions import Command

routes = Routes("issues")


def issue_subject_in_path(call: Call) -> tuple[Access, SubjectAccess]:
    """The issue that the path names, as something that is talked about."""
    access, found = issue_in_path(call)
    return access, issue_subject_access(call.actor, access, found, subject_of(found.issue))


def _execute_commands(call: Call, _: WriteNote, commands: Sequence[Command]) -> CommandResult:
    return execute_commands(call.db, call.actor, issue_in_path(call)[1], commands)


note_commands = NoteCommands(ISSUE_COMMANDS.names, _execute_commands)
note_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path, note_commands)
discussion_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path, note_commands=note_commands)
declare_award_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
resource_event_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
declare_todo_routes(routes, "/projects/:id/issues/:issue_iid", issue_subject_in_path)
