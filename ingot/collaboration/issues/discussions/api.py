"""Endpoints of the notes, discussions, award emoji, resource events and todos of issues."""

from collections.abc import Sequence

from ingot.collaboration.emoji.api import declare_award_routes
from ingot.collaboration.issues.api import issue_in_path
from ingot.collaboration.issues.discussions.policy import issue_subject_access
from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS
from ingot.collaboration.issues.quick_actions.execute import execute_commands
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.notes.api import DiscussionPaths, NoteCommands, NotePaths, discussion_routes, note_routes
from ingot.collaboration.notes.params import WriteNote
from ingot.collaboration.quick_actions.command_context import CommandResult
from ingot.collaboration.resource_events.api import ResourceEventPaths, resource_event_routes
from ingot.collaboration.subjects import SubjectAccess
from ingot.collaboration.todos.api import declare_todo_routes
from ingot.core.access.levels import Access
from ingot.core.api.routes import Call, Routes
from ingot.core.markup.quick_actions import Command

routes = Routes("issues")


def issue_subject_in_path(call: Call) -> tuple[Access, SubjectAccess]:
    """Find the issue that the path names, as a subject with the caller's access."""
    access, lookup = issue_in_path(call)
    return access, issue_subject_access(call.actor, access, lookup, subject_of(lookup.issue))


def _execute_commands(call: Call, _: WriteNote, commands: Sequence[Command]) -> CommandResult:
    return execute_commands(call.db, call.actor, issue_in_path(call)[1], commands)


note_commands = NoteCommands(ISSUE_COMMANDS.names, _execute_commands)
NOTES = note_routes(
    routes,
    issue_subject_in_path,
    NotePaths(
        notes="/projects/:id/issues/:issue_iid/notes",
        note="/projects/:id/issues/:issue_iid/notes/:note_id",
        awards="/projects/:id/issues/:issue_iid/notes/:note_id/award_emoji",
        award="/projects/:id/issues/:issue_iid/notes/:note_id/award_emoji/:award_id",
    ),
    note_commands,
)
DISCUSSIONS = discussion_routes(
    routes,
    issue_subject_in_path,
    DiscussionPaths(
        discussions="/projects/:id/issues/:issue_iid/discussions",
        discussion="/projects/:id/issues/:issue_iid/discussions/:discussion_id",
        notes="/projects/:id/issues/:issue_iid/discussions/:discussion_id/notes",
        note="/projects/:id/issues/:issue_iid/discussions/:discussion_id/notes/:note_id",
    ),
    note_commands=note_commands,
)
AWARDS = declare_award_routes(
    routes,
    issue_subject_in_path,
    awards="/projects/:id/issues/:issue_iid/award_emoji",
    award="/projects/:id/issues/:issue_iid/award_emoji/:award_id",
)
resource_event_routes(
    routes,
    issue_subject_in_path,
    ResourceEventPaths(
        label_events="/projects/:id/issues/:issue_iid/resource_label_events",
        label_event="/projects/:id/issues/:issue_iid/resource_label_events/:event_id",
        milestone_events="/projects/:id/issues/:issue_iid/resource_milestone_events",
        milestone_event="/projects/:id/issues/:issue_iid/resource_milestone_events/:event_id",
        state_events="/projects/:id/issues/:issue_iid/resource_state_events",
        state_event="/projects/:id/issues/:issue_iid/resource_state_events/:event_id",
    ),
)
add_todo = declare_todo_routes(routes, issue_subject_in_path, todo="/projects/:id/issues/:issue_iid/todo")
