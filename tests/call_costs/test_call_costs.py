"""Statements, git processes and bytes of frequent calls, compared with those recorded in ``call_costs.txt``.

A call that costs more than its record fails until the table is changed, with the reason in its last column. A call
that costs less fails too, so that the next rise is noticed. ``make costs`` writes the table.
"""

from pathlib import Path

import pytest

from tests.call_costs.measurement import CallCost, measured_costs, recorded_costs

_MAX_BYTES_RATIO = 1.02
_MAX_BYTES = 20
"""Secrets in forms and the order of their digits change the length of a response a little."""


def test_no_call_costs_more_than_recorded(tmp_path: Path, database_url: str) -> None:
    if database_url:
        pytest.skip("The costs are those of SQLite.")
    call_costs, recorded = measured_costs(tmp_path), recorded_costs()
    assert call_costs.keys() == recorded.keys(), "Record them with `make costs`."
    changed = {
        name: f"{recorded[name]} -> {cost}" for name, cost in call_costs.items() if _differs(cost, recorded[name])
    }
    assert not changed


def _differs(cost: CallCost, record: CallCost) -> bool:
    ratio = cost.bytes / record.bytes if record.bytes else float(not cost.bytes)
    same_counts = (cost.statements, cost.git_processes) == (record.statements, record.git_processes)
    same_length = abs(cost.bytes - record.bytes) <= _MAX_BYTES or 1 / _MAX_BYTES_RATIO <= ratio <= _MAX_BYTES_RATIO
    return not (same_counts and same_length)
