"""Compiled templates: stored beside the templates, and compiled again when these change."""

import sys
from pathlib import Path

import pytest

from ingot.core.db.times import Timestamp
from ingot.web import template_environment as module
from ingot.web.icons import icon_element
from ingot.web.template_environment import CompiledTemplates, template_environment

NAME = "message.html"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "_FOLDER", tmp_path / "compiled")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    _restart(monkeypatch)
    return tmp_path / "compiled"


def _restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what is in memory, as a new process does."""
    monkeypatch.setattr(module, "_compiled", {"en": CompiledTemplates("en")})


def _is_compiled() -> bool:
    environment = template_environment(lambda: Timestamp(""))
    assert environment.loader is not None
    source, filename, _ = environment.loader.get_source(environment, NAME)
    return module._compiled["en"].get_bucket(environment, NAME, filename, source).code is not None


def test_a_template_is_compiled_once_for_all_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _is_compiled()
    template_environment(lambda: Timestamp("")).get_template(NAME)
    _restart(monkeypatch)
    assert _is_compiled()
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:20])
    _restart(monkeypatch)
    assert not _is_compiled(), "A damaged file is not used."


def test_a_package_that_cannot_be_written_is_no_obstacle(folder: Path) -> None:
    folder.write_text("A file where the folder would be.")
    template_environment(lambda: Timestamp("")).get_template(NAME)
    assert _is_compiled(), "In memory."


def test_nothing_is_written_where_python_writes_no_bytecode(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    template_environment(lambda: Timestamp("")).get_template(NAME)
    assert not folder.exists()


def test_icons_with_constant_names_are_part_of_the_text() -> None:
    environment = template_environment(lambda: Timestamp(""))
    source = '<p>{{ icon("star") }} {{ ui.icon("fork", "Forks & copies") }} {{ icon(name) }}</p>'
    prepared = environment.preprocess(source)
    called = environment.from_string(source).render(icon=icon_element, name="lock", ui={"icon": icon_element})
    assert prepared == f"<p>{icon_element('star')} {icon_element('fork', 'Forks & copies')} {{{{ icon(name) }}}}</p>"
    assert called == prepared.replace("{{ icon(name) }}", icon_element("lock"))
    german = template_environment(lambda: Timestamp(""), "de").preprocess('{{ icon("star", "Stars") }}')
    assert 'aria-label="Sterne"' in german


def test_texts_of_templates_are_ascii_and_values_stay_as_they_are() -> None:
    environment = template_environment(lambda: Timestamp(""))
    template = environment.from_string('<title>{{ name }} · Ingot</title><p title="☺">{{ "a · b" }}</p>')
    shown = '<title>Grün · Ingot</title><p title="&#9786;">a · b</p>'
    assert template.render(name="Grün") == shown.replace(" · Ingot", " &#183; Ingot")
