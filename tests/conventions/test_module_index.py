"""Modules that are imported on demand: the index is current, and every reference to a function can be resolved."""

import io
import re
from importlib import import_module
from pathlib import Path

from ingot.cli.module_index import module_index
from ingot.core.late_imports import Deferred
from ingot.core.log import Log
from ingot.core.module_index import INDEX_FILE
from ingot.core.settings import Settings
from ingot.server import app, jobs
from ingot.server.composition import list_subscriptions
from ingot.server.startup import make_data_directory

ROOT = Path(__file__).parents[2] / "ingot"
COMPOSITION = {
    "server/app.py",
    "server/composition.py",
    "server/jobs.py",
    "cli/server_processes.py",
    "server/background_jobs.py",
}
"""The only modules that name others by reference, because neither mypy nor import-linter checks it."""


def test_the_index_is_current() -> None:
    assert INDEX_FILE.read_text() == module_index(), "run `make index`"


def test_only_the_composition_names_modules_by_reference() -> None:
    naming = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if "Deferred(" in path.read_text()}
    naming |= {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if "DeferredFunction(" in path.read_text()}
    assert naming - {"core/late_imports.py"} == COMPOSITION


def test_every_reference_is_resolved(tmp_path: Path) -> None:
    """The objects that take arguments are built, because their constructors could have changed."""
    settings, log = Settings(data=tmp_path, ldap_url="ldap://localhost"), Log("json", io.StringIO())
    make_data_directory(tmp_path)
    database = app.open_database(settings)
    try:
        deferred = [
            *list_subscriptions(settings, database),
            *jobs.job_handlers(settings, database, log).values(),
            *(job.work for job in jobs.recurring_jobs(settings)),
        ]
        for each in deferred:
            if isinstance(each, Deferred):
                assert each.value
    finally:
        database.close()
    for name in COMPOSITION:
        for module, path in re.findall(r'"(ingot[\w.]+):([\w.]+)"', (ROOT / name).read_text()):
            assert hasattr(import_module(module), path.partition(".")[0]), f"{name}: {module}:{path}"


def test_every_kind_of_job_has_a_handler(tmp_path: Path) -> None:
    """Kinds are constants in the modules that enqueue them."""
    kinds = set()
    for path in ROOT.rglob("*.py"):
        module = "ingot." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name in re.findall(r"\benqueue\(\s*\w+,\s*([A-Z_]+)\b", path.read_text()):
            kinds.add(getattr(import_module(module), name))
    make_data_directory(tmp_path)
    database = app.open_database(Settings(data=tmp_path))
    handlers = jobs.job_handlers(Settings(data=tmp_path), database, Log("json", io.StringIO()))
    database.close()
    assert len(kinds) > 20
    assert kinds - handlers.keys() == {"recurring:"}
