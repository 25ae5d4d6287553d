"""Migration scripts first expand the schema and contract it in a later release.

While nodes are upgraded one by one, the previous version serves the database that the new one has migrated. So a script
must not remove or rename what the previous version uses, nor require what it does not write.
"""

import ast
from pathlib import Path

import pytest

from ingot.core.migrations.run import SCRIPTS

FIRST_REVISION = "0027"
"""First revision to which the rule applies; earlier versions refuse to start on a newer database."""
REMOVALS = {"drop_table", "drop_column", "rename_table"}
EXCEPTIONS = {
    # Replaces a table by a copy with one more column in one transaction, on SQLite only, which serves a single machine.
    "0060": ["a statement removes or renames in one step"] * 2,
    # The same; the previous version reads lists of boards only together with their labels.
    "0124": ["a statement removes or renames in one step"] * 2,
}
REMOVING_STATEMENTS = ("DROP TABLE", "DROP COLUMN", "RENAME")


def _scripts() -> list[Path]:
    return sorted(path for path in SCRIPTS.glob("[0-9]*.py") if path.stem[:4] >= FIRST_REVISION)


def _violations(source: str) -> list[str]:
    tree = ast.parse(source)
    declared = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = [problem for node in ast.walk(tree) if isinstance(node, ast.Call) for problem in _problems(node)]
    if not found or "contracts" not in declared:
        return found
    if not str(declared["contracts"]) < str(declared["revision"]):
        return ["contracts must name an earlier revision"]
    return [] if "record_oldest(op, contracts)" in source else ["contracts is not recorded"]


def _problems(call: ast.Call) -> list[str]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in REMOVALS:
        return [f"{name} in one step"]
    if name == "alter_column" and ("new_column_name" in options or _is_false(options.get("nullable"))):
        return ["alter_column renames a column or makes it required"]
    if name in ("execute", "exec_driver_sql") and any(
        words in ast.unparse(call).upper() for words in REMOVING_STATEMENTS
    ):
        return ["a statement removes or renames in one step"]
    if name == "add_column" and isinstance(call.args[-1], ast.Call):
        column = {keyword.arg: keyword.value for keyword in call.args[-1].keywords}
        if _is_false(column.get("nullable")) and "server_default" not in column:
            return ["a required column without a default of the server"]
    return []


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


@pytest.mark.parametrize("path", _scripts(), ids=lambda path: path.stem)
def test_a_script_keeps_the_previous_version_working(path: Path) -> None:
    expected = EXCEPTIONS.get(path.stem[:4], [])
    assert _violations(path.read_text()) == expected


REFUSED = {
    "drop": 'op.drop_column("users", "skype")',
    "drop in a batch": 'batch.drop_column("skype")',
    "rename": 'op.alter_column("users", "skype", new_column_name="chat")',
    "require": 'op.alter_column("users", "skype", nullable=False)',
    "statement": 'op.execute("ALTER TABLE users RENAME TO people")',
    "statement of a connection": 'op.get_bind().exec_driver_sql("DROP TABLE users")',
    "add required": 'op.add_column("users", sa.Column("chat", sa.Text(), nullable=False))',
}
ALLOWED = {
    "add optional": 'op.add_column("users", sa.Column("chat", sa.Text(), nullable=True))',
    "add with default": 'op.add_column("users", sa.Column("chat", sa.Text(), server_default="", nullable=False))',
    "create": 'op.create_table("chats", sa.Column("id", sa.Integer(), nullable=False))',
    "contract": 'contracts = "0030"\nrevision = "0031"\nrecord_oldest(op, contracts)\nop.drop_table("chats")',
}


def test_the_rule_itself() -> None:
    assert [name for name, source in REFUSED.items() if not _violations(source)] == []
    assert {name: _violations(source) for name, source in ALLOWED.items() if _violations(source)} == {}
    assert _violations(ALLOWED["contract"].replace("record_oldest(op, contracts)", ""))
    assert _violations(ALLOWED["contract"].replace('"0030"', '"0031"'))
