"""Alert rules and dashboard: they name the metrics that are declared."""

import json
import re

import yaml

from ingot.cli.metric_dashboard import dashboard, declared_metrics
from ingot.core.http.metrics import Metrics
from tests.server.process import ROOT

RULES = ROOT / "deploy" / "monitoring" / "alerts.yml"
DASHBOARD = ROOT / "deploy" / "monitoring" / "dashboard.json"


def test_alerts_name_declared_metrics() -> None:
    """Counts and histograms appear with their suffix, as Prometheus stores them."""
    suffixes = {"Counter": ["_total"], "Gauge": [""], "Histogram": ["_bucket", "_count", "_sum"], "Summary": ["_count"]}
    served = {metric.name + suffix for metric in declared_metrics() for suffix in suffixes[metric.kind]}
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    named = {name for rule in group["rules"] for name in re.findall(r"\bingot_\w+", rule["expr"])}
    assert named - served == set()
    assert len(named) >= 5
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in ("warning", "critical") and rule["annotations"]["summary"]


def test_the_job_of_the_rules_is_that_of_the_documented_configuration() -> None:
    assert "job_name: ingot\n" in (ROOT / "docs" / "operations.md").read_text()
    assert 'job="ingot"' in RULES.read_text()


def test_the_dashboard_has_a_panel_for_each_metric() -> None:
    assert DASHBOARD.read_text() == dashboard(), "run `make dashboard`"
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert [panel["description"] for panel in panels] == [metric.name for metric in declared_metrics()]
    assert len({panel["title"] for panel in panels}) == len(panels) >= 15
    figures = Metrics(None)
    figures.observe("GET", "/version", 200, 0.001)
    served = set(re.findall(r"^# TYPE (ingot_[a-z_]+?)(?:_total)? ", figures.render().decode(), re.MULTILINE))
    assert served <= {metric.name for metric in declared_metrics()}, "declared in another module"
