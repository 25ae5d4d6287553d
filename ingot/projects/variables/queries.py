"""Queries of variables."""

from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import Conflict, NotFound
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project
from ingot.projects.variables.params import ScopeFilter
from ingot.projects.variables.tables import Variable, variables


class VariableOwner(NamedTuple):
    """Project, group or instance that has variables."""

    name: str
    project_id: int | None = None
    group_id: int | None = None

    @property
    def has_environment_scopes(self) -> bool:
        """Whether variables can be limited to environments; those of the instance cannot."""
        return self.project_id is not None or self.group_id is not None


INSTANCE = VariableOwner("instance")
_OF_OWNER = select(variables).where(variables.c.place == bindparam("place"))
_COUNT = select(func.count()).select_from(variables).where(variables.c.place == bindparam("place"))
_LIST = list_query(_OF_OWNER, variables.c.id, variables.c.id.asc())
_BY_KEY = _OF_OWNER.where(variables.c.key == bindparam("key")).order_by(variables.c.id).limit(2)
_BY_SCOPE = _OF_OWNER.where(
    variables.c.key == bindparam("key"), variables.c.environment_scope == bindparam("environment_scope")
)


def variable_owner(owner: Project | Namespace | None) -> VariableOwner:
    """Return the project, group or instance as an owner of variables."""
    if isinstance(owner, Project):
        return VariableOwner(f"project {owner.id}", project_id=owner.id)
    return VariableOwner(f"group {owner.id}", group_id=owner.id) if owner else INSTANCE


def list_variables(db: Connection, owner: VariableOwner, page: Page) -> Listing[Variable]:
    """List the variables of an owner."""
    return fetch_page(db, Variable, _LIST, page, place=owner.name)


def count_variables(db: Connection, owner: VariableOwner) -> int:
    """Return the number of variables of an owner."""
    count: int = db.value(_COUNT, place=owner.name)
    return count


def variable_or_none(
    db: Connection, owner: VariableOwner, key: str, params: ScopeFilter | None = None
) -> Variable | None:
    """Return the variable with this key and, if given, scope; raise Conflict if several variables match."""
    if params is not None and params.environment_scope is not None:
        return db.first(Variable, _BY_SCOPE, place=owner.name, key=key, environment_scope=params.environment_scope)
    matches = db.all(Variable, _BY_KEY, place=owner.name, key=key)
    if len(matches) > 1:
        raise Conflict("409 Conflict - several variables have this key: choose one by filter[environment_scope]")
    return matches[0] if matches else None


def find_variable(db: Connection, owner: VariableOwner, key: str, params: ScopeFilter | None = None) -> Variable:
    """Return the variable with this key and, if given, scope; raise NotFound if there is none."""
    variable = variable_or_none(db, owner, key, params)
    if variable is None:
        raise NotFound("Variable")
    return variable
