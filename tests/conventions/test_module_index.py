"""Modules that are imported on demand: the index is current, and what they contain can be built."""

import io
import re
from importlib import import_module
from pathlib import Path

from ingot.cli.module_index import module_index
from ingot.core.late_imports import Late
from ingot.core.log import Log
from ingot.core.module_index import INDEX_FILE
from ingot.core.settings import Settings
from ingot.server import app, jobs
from ingot.server.composition import list_subscriptions
from ingot.server.startup import make_data_directory

ROOT = Path(__file__).parents[2] / "ingot"


def test_the_index_is_current() -> None:
    assert INDEX_FILE.read_text() == module_index(), "run `make index`"


def test_no_module_names_a_function_in_a_string() -> None:
    """Neither mypy nor import-linter would check it, and a search for usages would not find it."""
    naming = {
        str(path.relative_to(ROOT)): names
        for path in ROOT.rglob("*.py")
        if (names := re.findall(r'"(ingot[\w.]+:[\w.]+)"', path.read_text()))
    }
    assert naming == {}


def test_everything_that_waits_for_its_import_can_be_built(tmp_path: Path) -> None:
    """Constructors are called, and so may fail although mypy accepts them."""
    settings, log = Settings(data=tmp_path, ldap_url="ldap://localhost"), Log("json", io.StringIO())
    make_data_directory(tmp_path)
    database = app.open_database(settings)
    try:
        late = [
            *list_subscriptions(settings, database),
            *jobs.job_handlers(settings, database, log).values(),
            *(job.work for job in jobs.recurring_jobs(settings)),
        ]
        assert all(each.value for each in late if isinstance(each, Late))
        assert sum(isinstance(each, Late) for each in late) > 150
    finally:
        database.close()


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
