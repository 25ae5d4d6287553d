"""Permission to give variables to pipelines and jobs."""

from ingot.accounts.users.actors import active_actor
from ingot.ci.pipelines.policy import may_give_variables
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

NOT_ALLOWED = "Insufficient permissions to set pipeline variables"


def variables_allowed(db: Connection, user_id: int | None, project: Project) -> bool:
    """Return whether a user may give variables to the pipelines of a project."""
    if project.ci_options.ci_pipeline_variables_minimum_override_role == "developer":
        return True  # The permission to run pipelines is enough.
    actor = active_actor(db, user_id) if user_id is not None else None
    return actor is not None and may_give_variables(actor, find_project(db, actor, project.id)[0], project)


def require_variables_allowed(db: Connection, user_id: int | None, project: Project) -> None:
    """Raise Invalid if the project restricts variables and the user lacks the level for them."""
    if not variables_allowed(db, user_id, project):
        raise Invalid(base=[NOT_ALLOWED])
