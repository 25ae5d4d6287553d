"""Caches: the documentation, the shares of the budget, the metrics, and the rule for functools."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import ingot.sites.serving.content
import ingot.web.all_pages  # noqa: F401 - With the endpoints and sites, it imports every module that declares a cache.
from ingot.core.cache import DEFAULT_BUDGET_MB, REGISTRY, CacheRegistry
from ingot.core.http.metrics import Metrics
from ingot.core.settings import InvalidSetting, Settings, load_settings
from ingot.server.registry import all_endpoints
from tests.client import Api, Make
from tests.conftest import Instance
from tests.conventions.source_files import source_files

all_endpoints()
ROOT = Path(__file__).parents[2]
_ROW = re.compile(r"^\| `([a-z-]+)` \| .+ \| .+ \| ([\d.]+) MiB \|$", re.MULTILINE)
_LRU_SIZE = re.compile(r"lru_cache\((?:maxsize=)?(\d+)\)")
_STATEMENTS = re.compile(r"Select|ListQuer|Statement")
_METRIC = re.compile(r'^ingot_cache_(\w+)\{cache="([a-z-]+)"\} ([\d.e+]+)$', re.MULTILINE)


def test_the_documentation_lists_every_cache_with_its_size() -> None:
    documented = _ROW.findall((ROOT / "docs" / "caches.md").read_text())
    declared = [(cache.name, f"{DEFAULT_BUDGET_MB * cache.share / 100:.1f}") for cache in REGISTRY.caches()]
    assert documented == declared
    assert Settings().cache_mb == DEFAULT_BUDGET_MB


def test_the_shares_add_up_to_the_budget() -> None:
    assert sum(cache.share for cache in REGISTRY.caches()) == 100


def _functions_with_parameters() -> Iterator[tuple[str, ast.FunctionDef]]:
    for file in source_files("ingot"):
        for definition in file.definitions:
            if isinstance(definition.node, ast.FunctionDef) and definition.node.args.args:
                yield file.name, definition.node


def test_functools_caches_are_bounded() -> None:
    """Either by a maximum size, or because the function takes no parameters."""
    unbounded = [
        f"{path}: {function.name}"
        for path, function in _functions_with_parameters()
        for decorator in map(ast.unparse, function.decorator_list)
        if decorator in ("cache", "functools.cache", "lru_cache(maxsize=None)", "lru_cache(None)")
    ]
    assert unbounded == []


def test_functools_caches_of_statements_are_small() -> None:
    """A list's statements take up to 130 KB for each combination of filters, which clients choose."""
    large = [
        f"{path}: {function.name}"
        for path, function in _functions_with_parameters()
        for size in _LRU_SIZE.findall(" ".join(map(ast.unparse, function.decorator_list)))
        if _STATEMENTS.search(ast.unparse(function.returns or ast.Constant(None))) and int(size) > 256
    ]
    assert large == []


def test_every_cache_has_metrics(instance: Instance, api: Api, make: Make) -> None:
    assert api.get("/user", make.root).status_code == 200
    figures = {(kind, name): float(value) for kind, name, value in _METRIC.findall(_scraped(instance))}
    names = [cache.name for cache in REGISTRY.caches()]
    assert figures.keys() == {
        (kind, name) for kind in ("entries", "bytes", "hits_total", "misses_total") for name in names
    }
    assert figures["misses_total", "database-reads"] > 0
    assert sum(figures["bytes", name] for name in names) <= Settings().cache_mb * 2**20


def test_metrics_of_ended_workers_hold_no_memory(tmp_path: Path) -> None:
    """Their hits and misses still count, or the counters would go back."""
    registry = CacheRegistry()
    cache = registry.declare("one", share=100)
    cache.put("key", "value", 100)
    cache.get("key")
    ended = subprocess.Popen(["true"])
    ended.wait()
    Metrics(tmp_path, None, registry).render()
    (own,) = tmp_path.glob("*.json")
    (tmp_path / f"{ended.pid}.json").write_bytes(own.read_bytes())

    text = Metrics(tmp_path, None, registry).render().decode()
    figures = {kind: float(value) for kind, _, value in _METRIC.findall(text)}

    assert figures == {"entries": 1, "bytes": cache.bytes, "hits_total": 2, "misses_total": 0}


def _scraped(instance: Instance) -> str:
    return httpx.get(f"{instance.url}/-/metrics").text


@pytest.mark.parametrize("value", ["-1", "many"])
def test_the_budget_is_checked(value: str) -> None:
    with pytest.raises(InvalidSetting):
        load_settings({}, {"INGOT_CACHE_MB": value})
