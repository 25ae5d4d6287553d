"""Response structs of the scope of job tokens."""

from ingot.core.api.views import View


class JobTokenScopeView(View):
    """Whether only listed projects have access; the access of the project's own jobs is not limited."""

    inbound_enabled: bool
    outbound_enabled: bool


class AllowedProjectView(View):
    """A project in the list of another one."""

    source_project_id: int
    target_project_id: int


class AllowedGroupView(View):
    """A group in the list of a project."""

    source_project_id: int
    target_group_id: int
