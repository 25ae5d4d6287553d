"""Examples of systemd units: syntax, and the exposure that systemd computes."""

import re
import shutil
import subprocess

import pytest

from tests.server.process import ROOT

UNITS = ROOT / "deploy" / "systemd"
MAX_EXPOSURE = 3.0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed.")
@pytest.mark.parametrize("unit", ["ingot.service", "ingot-backup.service"])
def test_the_unit_is_hardened(unit: str) -> None:
    words = ["systemd-analyze", "security", "--offline=true", str(UNITS / unit)]
    report = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    exposure = re.search(rf"exposure level for {unit}: ([0-9.]+)", report)
    assert exposure is not None and float(exposure[1]) <= MAX_EXPOSURE, report


def test_the_timer_starts_the_backup() -> None:
    timer, service = (UNITS / f"ingot-backup.{kind}" for kind in ("timer", "service"))
    assert "OnCalendar=" in timer.read_text() and "ingot backup" in service.read_text()
