"""Rules for options of projects that depend on each other."""

from typing import Any

from ingot.core.errors import Invalid
from ingot.projects.projects.options import ProjectCiOptions

_RESTRICTED = "restrict_user_defined_variables"
_ROLE = "ci_pipeline_variables_minimum_override_role"
_SUBJECT = "ci_id_token_sub_claim_components"

_AGE = "ci_delete_pipelines_in_seconds"
_DAY, _YEAR = 86_400, 31_557_600


def consistent_options(sent: dict[str, Any], options: ProjectCiOptions) -> dict[str, Any]:
    """Return the given options with those that follow from them; raise Invalid if they contradict each other."""
    if _SUBJECT in sent and sent[_SUBJECT][:1] != ["project_path"]:
        raise Invalid(**{_SUBJECT: ["project_path must be the first element of the sub claim"]})
    age = sent.get(_AGE)
    if age is not None and not _DAY <= age <= _YEAR:
        raise Invalid(**{_AGE: ["must be between 1 day and 1 year"]})
    return sent | _variable_options(sent, options)


def _variable_options(sent: dict[str, Any], options: ProjectCiOptions) -> dict[str, Any]:
    """Return the role that may give variables, and whether they are restricted; a given role counts first."""
    role = sent.get(_ROLE)
    if role is None and sent.get(_RESTRICTED) is not None:
        role = "developer" if not sent[_RESTRICTED] else options.ci_pipeline_variables_minimum_override_role
        if sent[_RESTRICTED] and role == "developer":
            role = "maintainer"
    return {} if role is None else {_ROLE: role, _RESTRICTED: role != "developer"}


def changes_role_of_owners(sent: dict[str, Any], options: ProjectCiOptions) -> bool:
    """Return whether the right to give variables is limited to owners or no longer, which only they may decide."""
    before = options.ci_pipeline_variables_minimum_override_role
    after = _variable_options(sent, options).get(_ROLE, before)
    return before != after and "owner" in (before, after)
