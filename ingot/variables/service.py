"""What changes variables; values are sealed before they are stored."""

import re
from typing import Any

from msgspec import UNSET

from ingot.api.params import given
from ingot.db.connection import Connection
from ingot.errors import Invalid, too_long
from ingot.variables.params import CreateVariable, EditVariable, ScopeFilter
from ingot.variables.queries import Place, find_variable, variable_or_none
from ingot.variables.tables import Variable, variables

MOST_CHARACTERS = 255
LONGEST_VALUE = 65_535
_KEY = re.compile(r"[A-Za-z0-9_]+")
_SCOPE = re.compile(r"[A-Za-z0-9_/${}. *-]+")
# A log can hide only what stands in it as one piece, and hiding a short word would hide half the log.
_MASKABLE = re.compile(r"[A-Za-z0-9_+=/@:.~-]{8,}")
_MASKABLE_RAW = re.compile(r"\S{8,}")


def create_variable(db: Connection, place: Place, wanted: CreateVariable) -> Variable:
    """Add a variable."""
    key = wanted.key.strip()
    scope = wanted.environment_scope if place.scoped else "*"
    columns = given(wanted, "key", "value", "masked_and_hidden")
    columns |= {
        "environment_scope": scope,
        "masked": wanted.masked or wanted.masked_and_hidden,
        "hidden": wanted.masked_and_hidden,
    }
    errors = _key_trouble(key) | _trouble(columns, wanted.value)
    if not errors and variable_or_none(db, place, key, ScopeFilter(scope)) is not None:
        errors = {"key": [f"({key}) has already been taken"]}
    if errors:
        raise Invalid(**errors)
    db.insert(
        variables,
        place=place.name,
        project_id=place.project_id,
        group_id=place.group_id,
        key=key,
        sealed_value=db.vault.seal(wanted.value),
        created_at=db.now,
        updated_at=db.now,
        **columns,
    )
    return find_variable(db, place, key, ScopeFilter(scope))


def edit_variable(db: Connection, place: Place, variable: Variable, wanted: EditVariable) -> Variable:
    """Change what was sent."""
    columns = given(wanted, "value", "filter", *(() if place.scoped else ("environment_scope",)))
    now = {name: getattr(variable, name) for name in ("masked", "raw", "hidden", "environment_scope", "description")}
    value = db.vault.unseal(variable.sealed_value) if wanted.value is UNSET else wanted.value
    errors = _trouble(now | columns, value)
    scope = columns.get("environment_scope", variable.environment_scope)
    moved = scope != variable.environment_scope
    if moved and not errors and variable_or_none(db, place, variable.key, ScopeFilter(scope)) is not None:
        errors = {"key": [f"({variable.key}) has already been taken"]}
    if errors:
        raise Invalid(**errors)
    if wanted.value is not UNSET:
        columns["sealed_value"] = db.vault.seal(wanted.value)
    db.update(variables, variable.id, **columns, updated_at=db.now)
    return find_variable(db, place, variable.key, ScopeFilter(scope))


def delete_variable(db: Connection, variable: Variable) -> None:
    """Remove a variable."""
    db.delete(variables, variable.id)


def _key_trouble(key: str) -> dict[str, list[str]]:
    if not key:
        return {"key": ["can't be blank"]}
    if len(key) > MOST_CHARACTERS:
        return {"key": [too_long(MOST_CHARACTERS)]}
    return {} if _KEY.fullmatch(key) else {"key": ["can contain only letters, digits and '_'."]}


def _trouble(columns: dict[str, Any], value: str) -> dict[str, list[str]]:
    """What is wrong with a variable as it would be stored."""
    errors: dict[str, list[str]] = {}
    scope = columns["environment_scope"]
    if not scope.strip():
        errors["environment_scope"] = ["can't be blank"]
    elif len(scope) > MOST_CHARACTERS:
        errors["environment_scope"] = [too_long(MOST_CHARACTERS)]
    elif not _SCOPE.fullmatch(scope):
        errors["environment_scope"] = [
            "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"
        ]
    if len(value) > LONGEST_VALUE:
        errors["value"] = [too_long(LONGEST_VALUE)]
    elif columns["masked"] and not (_MASKABLE_RAW if columns["raw"] else _MASKABLE).fullmatch(value):
        errors["value"] = ["is invalid"]
    if columns["hidden"] and not columns["masked"]:
        errors["masked"] = ["must stay on for a hidden variable"]
    if len(columns["description"] or "") > MOST_CHARACTERS:
        errors["description"] = [too_long(MOST_CHARACTERS)]
    return errors
