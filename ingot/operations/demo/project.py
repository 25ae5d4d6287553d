"""Creation of the demo project through the domain services."""

from typing import NamedTuple

from ingot.accounts.users.queries import users_by_usernames
from ingot.accounts.users.tables import User
from ingot.collaboration.issues.params import CreateIssue
from ingot.collaboration.issues.queries import find_issue
from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS
from ingot.collaboration.issues.quick_actions.execute import create_issue, execute_commands
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.labels.params import CreateLabel
from ingot.collaboration.labels.service import create_label
from ingot.collaboration.milestones.params import CreateMilestone
from ingot.collaboration.milestones.service import create_milestone
from ingot.collaboration.notes.service import add_note
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.events.bus import emit
from ingot.core.markup.quick_actions import extract_commands
from ingot.core.names import NAMESPACES
from ingot.errors import NotFound
from ingot.git.writing.ref_updates import RefUpdate
from ingot.operations.demo.users import DEMO_USERS
from ingot.operations.demo.work_items import (
    DEMO_ISSUES,
    DESCRIPTION,
    GROUP,
    GROUP_NAME,
    LABELS,
    MILESTONE,
    PROJECT,
    PROJECT_NAME,
    DemoIssue,
)
from ingot.projects.groups.params import CreateGroup
from ingot.projects.groups.queries import member_source as source_of_group
from ingot.projects.groups.service import create_group
from ingot.projects.members.service import write_membership
from ingot.projects.namespaces.queries import namespace_by_path
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.events import ProjectInitialized
from ingot.projects.projects.params import CreateProject
from ingot.projects.projects.queries import find_project, member_source
from ingot.projects.projects.service import create_project
from ingot.projects.projects.tables import Project

REPORTERS = ("lior.abendstern", "kaito.minamoto")
_LEVELS = dict.fromkeys(REPORTERS, Level.REPORTER)


class DemoRepository(NamedTuple):
    """The project's repository before its row exists, with the initial commit."""

    key: str
    branch: str
    initial_commit: RefUpdate | None


def demo_group_exists(db: Connection) -> bool:
    """Check whether the group, or another namespace with its path, exists."""
    return namespace_by_path(db, GROUP) is not None


def add_demo_group(db: Connection) -> None:
    """Add the group with the demo users as its members."""
    actors = demo_actors(db)
    owner = actors[DEMO_USERS[0].username]
    group = create_group(db, owner, CreateGroup(name=GROUP_NAME, path=GROUP, visibility="public"), None)
    for name, actor in actors.items():
        if actor is not owner:
            write_membership(db, source_of_group(group), actor.user_id, _LEVELS.get(name, Level.DEVELOPER))


def add_project(db: Connection, repository: DemoRepository) -> None:
    """Add the project to its group, with labels, a milestone and issues."""
    db.lock(NAMESPACES)
    actors, group = demo_actors(db), demo_group(db)
    owner = actors[DEMO_USERS[0].username]
    params = CreateProject(name=PROJECT_NAME, path=PROJECT, description=DESCRIPTION, visibility="public")
    project = create_project(db, owner, params, group, repository.key, repository.branch)
    if repository.initial_commit is not None:
        emit(db, ProjectInitialized(project.id, owner.user_id, repository.initial_commit))
    for name, color, description in LABELS:
        create_label(db, member_source(project), CreateLabel(name, color, description))
    create_milestone(db, owner, member_source(project), CreateMilestone(MILESTONE))
    for item in DEMO_ISSUES:
        _add_item(db, project, actors, item)


def _add_item(db: Connection, project: Project, actors: dict[str, Actor], item: DemoIssue) -> None:
    author = actors[item.author]
    access, _ = find_project(db, author, project.id)
    params = CreateIssue(title=item.title, description=item.description)
    issue = create_issue(db, author, access, project, params, "ingot demo", "127.0.0.1")
    for name, text in item.comments:
        comment = extract_commands(text, ISSUE_COMMANDS.names)
        if comment.text:
            add_note(db, actors[name], subject_of(issue), comment.text)
        lookup = find_issue(db, actors[name], str(project.id), str(issue.iid))
        execute_commands(db, actors[name], lookup, comment.commands)


def demo_actors(db: Connection) -> dict[str, Actor]:
    """Return the demo users as actors, by username."""
    usernames = [user.username for user in DEMO_USERS]
    return {name: _actor(user) for name, user in users_by_usernames(db, usernames).items()}


def demo_group(db: Connection) -> Namespace:
    """Return the demo group."""
    group = namespace_by_path(db, GROUP)
    if group is None:
        raise NotFound("Group")
    return group


def _actor(user: User) -> Actor:
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
