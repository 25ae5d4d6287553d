"""What callers may send about variables."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.projects.variables.tables import VariableType


class ScopeFilter(Params):
    """Tells variables of the same key apart."""

    environment_scope: str | None = None


class FindVariable(Params):
    """Which of the variables of a key is meant."""

    filter: ScopeFilter | None = None


class CreateVariable(Params):
    """A new variable."""

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
    """Changes of a variable; its key stays."""

    value: str | UnsetType = UNSET
    variable_type: VariableType | UnsetType = UNSET
    protected: bool | UnsetType = UNSET
    masked: bool | UnsetType = UNSET
    raw: bool | UnsetType = UNSET
    environment_scope: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    filter: ScopeFilter | None = None
