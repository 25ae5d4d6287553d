"""Request parameters of the scope of job tokens."""

from ingot.core.api.params import Params


class EditJobTokenScope(Params):
    """Whether only listed projects have access."""

    enabled: bool


class AllowProject(Params):
    """A project whose job tokens get access."""

    target_project_id: int


class AllowGroup(Params):
    """A group whose projects' job tokens get access."""

    target_group_id: int
