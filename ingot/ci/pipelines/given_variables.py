"""Permission to give variables to pipelines and jobs."""

from ingot.accounts.users.actors import active_actor
from ingot.ci.pipelines.policy import may_give_variables
from ingot.core.db.connection import Connection
from ingot.errors import Invalid
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project


def require_variables_allowed(db: Connection, user_id: int | None, project: Project) -> None:
    """Raise Invalid if the project restricts variables and the user lacks the level for them."""
    if not project.ci_options.restrict_user_defined_variables:
        return
    actor = active_actor(db, user_id) if user_id is not None else None
    if actor is None or not may_give_variables(actor, find_project(db, actor, project.id)[0], project):
        raise Invalid(base=["Insufficient permissions to set pipeline variables"])
