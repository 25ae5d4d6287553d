"""Puts the project of the demo into an instance, through the same services as everybody else."""

from typing import NamedTuple

from ingot.access.actor import Actor
from ingot.access.levels import Level
from ingot.db.connection import Connection
from ingot.demo.people import PEOPLE
from ingot.demo.work_items import ABOUT, GROUP, GROUP_NAME, ITEMS, LABELS, MILESTONE, PROJECT, PROJECT_NAME, Item
from ingot.events.bus import emit
from ingot.git.updating import RefUpdate
from ingot.groups.members.service import put_member
from ingot.groups.namespaces.queries import namespace_by_path
from ingot.groups.params import CreateGroup
from ingot.groups.queries import source_of as source_of_group
from ingot.groups.service import create_group
from ingot.issues.commands.known import ISSUES
from ingot.issues.commands.obeying import create_issue, obey_commands
from ingot.issues.params import CreateIssue
from ingot.issues.queries import find_issue
from ingot.issues.service import subject_of
from ingot.labels.params import CreateLabel
from ingot.labels.service import create_label
from ingot.markup.commands import commands_in
from ingot.milestones.params import CreateMilestone
from ingot.milestones.service import create_milestone
from ingot.notes.service import add_note
from ingot.projects.events import ProjectBegun
from ingot.projects.params import CreateProject
from ingot.projects.queries import find_project, source_of
from ingot.projects.service import create_project
from ingot.projects.tables import Project
from ingot.users.accounts.queries import users_by_usernames
from ingot.users.accounts.tables import User

_LEVELS = {"lior.abendstern": Level.REPORTER, "kaito.minamoto": Level.REPORTER}


class Beginning(NamedTuple):
    """The repository of the project, which no row names yet, and its first commit."""

    key: str
    branch: str
    begun: RefUpdate | None


def is_there(db: Connection) -> bool:
    """Whether the project, or somebody else in its place, is there already."""
    return namespace_by_path(db, GROUP) is not None


def add_project(db: Connection, beginning: Beginning) -> None:
    """Add the project with all that is said about it."""
    people = actors(db)
    owner = people[PEOPLE[0].username]
    group = create_group(db, owner, CreateGroup(name=GROUP_NAME, path=GROUP, visibility="public"), None)
    for name, actor in people.items():
        if actor is not owner:
            put_member(db, source_of_group(group), actor.user_id, _LEVELS.get(name, Level.DEVELOPER))
    wanted = CreateProject(name=PROJECT_NAME, path=PROJECT, description=ABOUT, visibility="public")
    project = create_project(db, owner, wanted, group, beginning.key, beginning.branch)
    if beginning.begun is not None:
        emit(db, ProjectBegun(project.id, owner.user_id, beginning.begun))
    for name, color, description in LABELS:
        create_label(db, source_of(project), CreateLabel(name, color, description))
    create_milestone(db, owner, source_of(project), CreateMilestone(MILESTONE))
    for item in ITEMS:
        _add_item(db, project, people, item)


def _add_item(db: Connection, project: Project, people: dict[str, Actor], item: Item) -> None:
    author = people[item.author]
    here, _ = find_project(db, author, project.id)
    wanted = CreateIssue(title=item.title, description=item.description)
    issue = create_issue(db, author, here, project, wanted, "ingot demo", "127.0.0.1")
    for name, text in item.said:
        said = commands_in(text, ISSUES.names)
        if said.text:
            add_note(db, people[name], subject_of(issue), said.text)
        found = find_issue(db, people[name], str(project.id), str(issue.iid))
        obey_commands(db, people[name], found, said.commands)


def actors(db: Connection) -> dict[str, Actor]:
    """The people of the demo, by their names."""
    return {name: _actor(user) for name, user in users_by_usernames(db, [one.username for one in PEOPLE]).items()}


def _actor(user: User) -> Actor:
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
