"""Response structs of variables; all users who may read variables may also manage them."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.variables.tables import Variable, VariableType


class VariableView(View):
    """Variable; the value of a hidden one is never returned."""

    variable_type: VariableType
    key: str
    value: str | None
    hidden: bool
    protected: bool
    masked: bool
    raw: bool
    description: str | None
    environment_scope: str | UnsetType = UNSET


def variable_view(db: Connection, variable: Variable) -> VariableView:
    """Return the view of a variable with its decrypted value."""
    return VariableView(
        variable.variable_type,
        variable.key,
        None if variable.hidden else db.vault.unseal(variable.sealed_value),
        variable.hidden,
        variable.protected,
        variable.masked,
        variable.raw,
        variable.description,
        UNSET if variable.project_id is None and variable.group_id is None else variable.environment_scope,
    )


def variable_views(db: Connection, page: Sequence[Variable]) -> list[VariableView]:
    """Return the views of a page of variables."""
    return [variable_view(db, variable) for variable in page]
