"""Constants are inlined in statements, so that partial indexes are used."""

from sqlalchemy import bindparam, or_, select

from ingot.collaboration.todos.tables import todos
from ingot.core.db.compiled_statements import CompiledStatement, StatementCache
from tests.conftest import Instance

_C = todos.c


def _compiled(instance: Instance, *conditions: object) -> CompiledStatement:
    engine = instance.app.database.engine
    statements = StatementCache(engine.dialect, embedded=engine.dialect.name == "sqlite")
    return statements.compiled(select(_C.id).where(*conditions))  # type: ignore[arg-type] # They are conditions.


def test_a_constant_is_inlined(instance: Instance) -> None:
    text, carried, *_ = _compiled(instance, _C.state == "pending", _C.user_id == bindparam("user"))
    assert "'pending'" in text
    assert carried == {}


def test_other_values_and_defaults_are_bound(instance: Instance) -> None:
    """A default can be overridden when the statement runs."""
    conditions = or_(_C.state == "it's", _C.state == "", _C.state == "%(a)s :b", _C.state == bindparam("word", "open"))
    text, carried, *_ = _compiled(instance, conditions, _C.user_id == 7)
    assert "'" not in text
    assert sorted(map(str, carried.values())) == sorted(["it's", "", "%(a)s :b", "open", "7"])
