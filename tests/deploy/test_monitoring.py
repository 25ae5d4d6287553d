"""Alert rules: every metric and label that they name is declared."""

import re

import yaml

from ingot.core.http.metrics import Metrics
from tests.server.process import ROOT

RULES = ROOT / "deploy" / "monitoring" / "alerts.yml"
DECLARED = (ROOT / "ingot" / "core" / "http" / "metrics.py").read_text()


def test_alerts_name_declared_metrics() -> None:
    """Counts and histograms appear with their suffix, as Prometheus stores them."""
    figures = Metrics(None)
    figures.observe("GET", "/version", 200, 0.001)
    served = set(re.findall(r"^(ingot_\w+)", figures.render().decode(), re.MULTILINE))
    served |= set(re.findall(r'MetricFamily\(\s*"(ingot_\w+)"', DECLARED))
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    named = {name for rule in group["rules"] for name in re.findall(r"\bingot_\w+", rule["expr"])}
    assert named - served == set()
    assert len(named) >= 5
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in ("warning", "critical") and rule["annotations"]["summary"]


def test_the_job_of_the_rules_is_that_of_the_documented_configuration() -> None:
    assert "job_name: ingot\n" in (ROOT / "docs" / "operations.md").read_text()
    assert 'job="ingot"' in RULES.read_text()
