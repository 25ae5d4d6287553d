"""Request parameters of variables."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.projects.variables.tables import VariableType


class ScopeFilter(Params):
    """Filter that distinguishes variables with the same key."""

    environment_scope: str | None = None


class FindVariable(Params):
    """Selection among the variables with the same key."""

    filter: ScopeFilter | None = None


class CreateVariable(Params):
    """New variable."""

    key: str
    value: str
    variable_type: VariableType = "env_var"
    protected: bool = False
    masked: bool = False
    masked_and_hidden: bool = False
    raw: bool = False
    environment_scope: str = "*"
    description: str | None = None


class EditVariable(Params):
    """Changes of a variable; the key cannot be changed."""

    value: str | UnsetType = UNSET
    variable_type: VariableType | UnsetType = UNSET
    protected: bool | UnsetType = UNSET
    masked: bool | UnsetType = UNSET
    raw: bool | UnsetType = UNSET
    environment_scope: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    filter: ScopeFilter | None = None
