"""Rules about the form of names, docstrings and labels; docs/glossary.md defines project-specific terms."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.conventions.labels import CATALOGUE, ROOT, template_labels
from tests.conventions.source_files import SourceFile, source_files

PACKAGE = ROOT / "ingot"
TESTS = ("tests", "bench")
# Public class names that may be defined in more than one module.
SHARED_CLASS_NAMES: frozenset[str] = frozenset()
# Module names that look like participles, each with the reason why it is a noun here.
NOUN_MODULES = {
    "highlighting": "syntax highlighting",
    "housekeeping": "git's term for repacking and pruning",
    "listing": "a directory listing",
    "opening": "the beginning of the access to a source",
    "paging": "the noun for pages of a list",
    "processing": "the noun for the progress of a pipeline",
    "pending": "notifications that wait for their job",
    "ranking": "order by priority",
    "rendering": "the step that makes HTML",
    "routing": "the noun for finding an endpoint",
    "sharing": "GitLab's term for sharing projects with groups",
    "staged": "a module of the documented layout",
    "streaming": "sending data while it is produced",
    "testing": "a package for tests of others",
    "time_tracking": "GitLab's term",
    "access_denied": "the name of the page",
    "feed": "a feed of events",
}
_PARTICIPLE = re.compile(r"(ing|ed)$")
_BAD_OPENING = re.compile(
    r"(The same|What|Who|Whom|Whose|Whoever|Whatever|Where|How|Those|Somebody|Nobody|Everybody|Such)\b"
)
_RELATIVE_TEST_NAME = re.compile(r"test_(who|whom|whose|where|how|why)_")
_BAD_LABEL = re.compile(r"(What|Who|Whom|Whose|Whoever|Whatever|Where|How|Those|Somebody|Nobody)\b(?!.*\?$)")


def _files(*folders: str) -> Iterator[SourceFile]:
    for folder in folders:
        yield from (file for file in source_files(folder) if not {"vendor", "versions"} & set(file.path.parts))


def _docstrings(*folders: str) -> Iterator[tuple[str, str]]:
    for file in _files(*folders):
        for definition in file.definitions:
            if definition.docstring:
                yield f"{file.name}:{definition.line}", definition.docstring


def test_a_public_class_name_is_defined_once() -> None:
    """A search for a class name finds one definition."""
    defined = defaultdict(list)
    for file in _files("ingot", "pytest-ingot/src"):
        for definition in file.definitions:
            if isinstance(definition.node, ast.ClassDef) and not definition.name.startswith("_"):
                defined[definition.name].append(file.name)
    repeated = {name: places for name, places in defined.items() if len(places) > 1}
    assert {name: places for name, places in repeated.items() if name not in SHARED_CLASS_NAMES} == {}


def test_module_names_are_nouns() -> None:
    """A module is named after what it contains, not after what is done there."""
    participles = {file.path.stem: file.name for file in _files("ingot") if _PARTICIPLE.search(file.path.stem)}
    assert {stem: path for stem, path in participles.items() if stem not in NOUN_MODULES} == {}


def test_docstrings_open_with_a_noun_phrase_or_a_verb() -> None:
    docstrings = _docstrings("ingot", "pytest-ingot/src", *TESTS)
    assert [(place, text[:60]) for place, text in docstrings if _BAD_OPENING.match(text)] == []


def test_docstrings_of_test_packages_name_their_subject() -> None:
    assert [place for place, text in _docstrings(*TESTS) if text in ("Tests.", "Test.", "Fixtures.")] == []


def test_names_of_tests_state_subject_and_expectation() -> None:
    """A name is a statement, so that a failure is understood from it."""
    names = [
        f"{file.name}::{definition.name}"
        for file in _files(*TESTS)
        for definition in file.definitions
        if definition.name.startswith("test_") and not isinstance(definition.node, ast.ClassDef)
    ]
    assert [name for name in names if _RELATIVE_TEST_NAME.match(name.partition("::")[2])] == []


def test_page_labels_are_in_the_catalogue() -> None:
    """``make labels`` writes it, so that every new label is reviewed."""
    assert template_labels() == set(CATALOGUE.read_text().splitlines())


def test_page_labels_are_nouns_or_verbs() -> None:
    """Labels are no relative clauses, and have no full stop."""
    labels = sorted(template_labels())
    assert [label for label in labels if _BAD_LABEL.match(label)] == []
    assert [label for label in labels if label.endswith(".") and not label.endswith("…")] == []


def test_the_architecture_page_lists_the_packages() -> None:
    """docs/architecture.md shows what ``ls ingot/`` shows."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    block = text.split("## Packages")[1].split("```text")[1].split("```")[0]
    listed = {name.strip() for line in block.strip().splitlines() for name in re.split(r"\s{2,}", line)[0].split(",")}
    present = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path.is_dir() and not path.name.startswith("_"))
    }
    assert listed == {name for name in present if not name.startswith("_")}
