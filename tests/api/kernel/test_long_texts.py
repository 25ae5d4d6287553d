"""Long texts, which are searched for references and quick actions while no transaction holds locks."""

import pytest

from ingot.core.markup import literal_spans, quick_actions, references
from tests.client import Api, Make
from tests.factories import make_project
from tests.transactions import RECORDER

TEXT = "<" * 20_000


@pytest.fixture
def _observed_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail if a transaction searches a long text."""

    def mask_observed(text: str) -> str:
        if len(text) >= len(TEXT):
            RECORDER.note("searches a long text")
        return literal_spans.mask_non_prose(text)

    for module in (quick_actions, references):
        monkeypatch.setattr(module, "mask_non_prose", mask_observed)


@pytest.mark.usefixtures("_observed_searches")
def test_texts_are_searched_outside_of_transactions(api: Api, make: Make) -> None:
    project = make_project(make, initialize_with_readme=True)
    issue = api.post(f"{project.url}/issues", make.root, title="one").json()["iid"]
    for path, fields in {
        "issues": {"title": "long", "description": f"{TEXT}\n#{issue} @root"},
        f"issues/{issue}/notes": {"body": f"{TEXT}\n/close\n#{issue} @root"},
        f"issues/{issue}/discussions": {"body": f"{TEXT}\n#{issue} @root"},
        "repository/commits/master/comments": {"note": f"{TEXT}\n#{issue} @root"},
    }.items():
        created = api.post(f"{project.url}/{path}", make.root, **fields)
        assert created.status_code == 201, created.text
    assert api.get(f"{project.url}/issues/{issue}", make.root).json()["state"] == "closed"
