"""Dashboard for Grafana with a panel for each declared metric; ``make dashboard`` writes it to deploy/monitoring."""

import ast
import inspect
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ingot.core.http import metrics, process_metrics

_SOURCE = {"type": "prometheus", "uid": "${source}"}
_COLUMNS, _WIDTH, _HEIGHT = 2, 12, 8
_UNITS = (("_bytes", "bytes"), ("_seconds", "s"))


class DeclaredMetric(NamedTuple):
    """Family of metrics, as the code declares it."""

    kind: str
    """Counter, Gauge, Histogram or Summary."""
    name: str
    text: str
    labels: list[str]


def declared_metrics() -> list[DeclaredMetric]:
    """Return the families in the order of their declarations."""
    trees = (ast.parse(inspect.getsource(module)) for module in (metrics, process_metrics))
    return [metric for tree in trees for metric in _declarations(tree)]


def _declarations(tree: ast.Module) -> Iterator[DeclaredMetric]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("MetricFamily"):
            name, text = (ast.literal_eval(argument) for argument in node.args[:2])
            labels = next((keyword.value for keyword in node.keywords if keyword.arg == "labels"), None)
            given = ast.literal_eval(labels) if labels is not None else []
            yield DeclaredMetric(node.func.id.removesuffix("MetricFamily"), name, text, list(given))


def dashboard() -> str:
    """Return the dashboard as a document that Grafana imports."""
    panels = [_panel(number, metric) for number, metric in enumerate(declared_metrics())]
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    document = {
        "title": "Ingot",
        "uid": "ingot",
        "schemaVersion": 39,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [source]},
        "panels": panels,
    }
    return json.dumps(document, indent=2) + "\n"


def _panel(number: int, metric: DeclaredMetric) -> dict[str, Any]:
    row, column = divmod(number, _COLUMNS)
    targets = [
        {"refId": chr(ord("A") + place), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
        for place, (expression, legend) in enumerate(_queries(metric))
    ]
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": metric.text,
        "description": metric.name,
        "datasource": _SOURCE,
        "gridPos": {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": _unit(metric), "min": 0}, "overrides": []},
        "targets": targets,
    }


def _queries(metric: DeclaredMetric) -> list[tuple[str, str]]:
    """Return the expressions of a metric with the texts of their legends."""
    legend = " ".join(f"{{{{{label}}}}}" for label in metric.labels) or "{{instance}}"
    groups = ", ".join(metric.labels) or "instance"
    if metric.kind == "Gauge":
        return [(metric.name, f"{{{{instance}}}} {legend}" if metric.labels else legend)]
    if metric.kind == "Histogram":
        rate = f"sum by (le) (rate({metric.name}_bucket[5m]))"
        return [(f"histogram_quantile({share}, {rate})", f"{share:.0%}") for share in (0.5, 0.95, 0.99)]
    suffix = "_count" if metric.kind == "Summary" else "_total"
    return [(f"topk(10, sum by ({groups}) (rate({metric.name}{suffix}[5m])))", legend)]


def _unit(metric: DeclaredMetric) -> str:
    if metric.kind in ("Counter", "Summary"):
        return "ops"
    return next((unit for ending, unit in _UNITS if metric.name.endswith(ending)), "short")


if __name__ == "__main__":
    print(dashboard(), end="")
