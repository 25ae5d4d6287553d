"""Where calls on a repository take place: the project, what the caller holds in it, and the repository itself."""

from typing import NamedTuple

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.api.routes import Call, Stage
from ingot.git.repository import Repository
from ingot.projects import policy
from ingot.projects.api import store_of
from ingot.projects.code import code_of_project
from ingot.projects.queries import find_project
from ingot.projects.tables import Project


class Place(NamedTuple):
    """A project's repository, seen by a caller."""

    here: Access
    project: Project
    repository: Repository


def place_in_path(call: Call) -> tuple[Access, Place]:
    """The repository of the project that the path names."""
    here, project = find_project(call.db, call.actor, call.path["id"])
    return here, Place(here, project, code_of_project(store_of(call.settings), project))


def project_url(call: Call | Stage, project: Project) -> str:
    """Where the pages of a project begin."""
    return f"{call.origin.base}/{project.full_path}"


def may_read_code(actor: Actor, here: Access, place: Place) -> bool:
    """Those who may download the code."""
    return policy.may_download_code(actor, here, place.project)


def may_push_code(actor: Actor, here: Access, place: Place) -> bool:
    """Developers, unless the project is archived; what is protected asks for more at the gate."""
    return policy.may_push_code(actor, here, place.project)


def may_protect(actor: Actor, here: Access, place: Place) -> bool:
    """Those who administer the project, unless it is archived."""
    return policy.may_change_project(actor, here, place.project)
