"""State changes of variables; values are encrypted before they are stored."""

import re
from typing import Any

from msgspec import UNSET

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.projects.variables.params import CreateVariable, EditVariable, ScopeFilter
from ingot.projects.variables.queries import INSTANCE, VariableOwner, count_variables, find_variable, variable_or_none
from ingot.projects.variables.tables import Variable, variables

MAX_LENGTH = 255
MAX_VALUE_LENGTH = 65_535
_KEY = re.compile(r"[A-Za-z0-9_]+")
_SCOPE = re.compile(r"[A-Za-z0-9_/${}. *-]+")
# Masking replaces exact matches in job logs: a value must be one token, and masking a short one would hide too much.
_MASKABLE = re.compile(r"[A-Za-z0-9_+=/@:.~-]{8,}")
_MASKABLE_RAW = re.compile(r"\S{8,}")


def create_variable(db: Connection, owner: VariableOwner, params: CreateVariable) -> Variable:
    """Create a variable; raise Invalid with the errors of each field."""
    key = params.key.strip()
    scope = params.environment_scope if owner.has_environment_scopes else "*"
    columns = given_fields(params, "key", "value", "masked_and_hidden")
    columns |= {
        "environment_scope": scope,
        "masked": params.masked or params.masked_and_hidden,
        "hidden": params.masked_and_hidden,
    }
    errors = key_errors(key) | variable_errors(columns, params.value)
    if not errors and variable_or_none(db, owner, key, ScopeFilter(scope)) is not None:
        errors = {"key": [f"({key}) has already been taken"]}
    limit = all_settings(db).ci_instance_level_variables if owner == INSTANCE else 0
    if not errors and 0 < limit <= count_variables(db, owner):
        errors = {"base": [f"Maximum number of variables of the instance ({limit}) exceeded"]}
    if errors:
        raise Invalid(**errors)
    db.insert_row(
        variables,
        place=owner.name,
        project_id=owner.project_id,
        group_id=owner.group_id,
        key=key,
        sealed_value=db.vault.seal(params.value),
        created_at=db.now,
        updated_at=db.now,
        **columns,
    )
    return find_variable(db, owner, key, ScopeFilter(scope))


def edit_variable(db: Connection, owner: VariableOwner, variable: Variable, params: EditVariable) -> Variable:
    """Change the given fields of a variable; raise Invalid with the errors of each field."""
    columns = given_fields(params, "value", "filter", *(() if owner.has_environment_scopes else ("environment_scope",)))
    current = {
        name: getattr(variable, name) for name in ("masked", "raw", "hidden", "environment_scope", "description")
    }
    value = db.vault.unseal(variable.sealed_value) if params.value is UNSET else params.value
    errors = variable_errors(current | columns, value)
    scope = columns.get("environment_scope", variable.environment_scope)
    moved = scope != variable.environment_scope
    if moved and not errors and variable_or_none(db, owner, variable.key, ScopeFilter(scope)) is not None:
        errors = {"key": [f"({variable.key}) has already been taken"]}
    if errors:
        raise Invalid(**errors)
    if params.value is not UNSET:
        columns["sealed_value"] = db.vault.seal(params.value)
    db.update(variables, variable.id, **columns, updated_at=db.now)
    return find_variable(db, owner, variable.key, ScopeFilter(scope))


def delete_variable(db: Connection, variable: Variable) -> None:
    """Delete a variable."""
    db.delete(variables, variable.id)


def key_errors(key: str) -> dict[str, list[str]]:
    """Return the errors of a variable's key."""
    if not key:
        return {"key": ["can't be blank"]}
    if len(key) > MAX_LENGTH:
        return {"key": [too_long_message(MAX_LENGTH)]}
    return {} if _KEY.fullmatch(key) else {"key": ["can contain only letters, digits and '_'."]}


def variable_errors(columns: dict[str, Any], value: str) -> dict[str, list[str]]:
    """Return the errors of a variable's fields, given the values that would be stored."""
    errors: dict[str, list[str]] = {}
    scope = columns["environment_scope"]
    if not scope.strip():
        errors["environment_scope"] = ["can't be blank"]
    elif len(scope) > MAX_LENGTH:
        errors["environment_scope"] = [too_long_message(MAX_LENGTH)]
    elif not _SCOPE.fullmatch(scope):
        errors["environment_scope"] = [
            "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"
        ]
    if len(value) > MAX_VALUE_LENGTH:
        errors["value"] = [too_long_message(MAX_VALUE_LENGTH)]
    elif columns["masked"] and not (_MASKABLE_RAW if columns["raw"] else _MASKABLE).fullmatch(value):
        errors["value"] = ["is invalid"]
    if columns["hidden"] and not columns["masked"]:
        errors["masked"] = ["must stay on for a hidden variable"]
    if len(columns["description"] or "") > MAX_LENGTH:
        errors["description"] = [too_long_message(MAX_LENGTH)]
    return errors
