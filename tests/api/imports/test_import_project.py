"""Import of a project from a second instance over HTTP."""

from typing import Any

from tests.api.imports.conftest import ImportingInstance, SourceProject
from tests.client import Api, Make


def _titles(importing: ImportingInstance, project_id: int, what: str) -> list[tuple[int, str, str]]:
    found = importing.api.get(f"/projects/{project_id}/{what}", importing.root, per_page=100).json()
    return sorted((each["iid"], each["title"], each["state"]) for each in found)


def test_an_import_contains_everything(importing: ImportingInstance, source_project: SourceProject) -> None:
    """Numbers, states, authors, notes, refs and the wiki, with a report that names no difference."""
    head = source_project.api.get(f"/projects/{source_project.id}/repository/branches/feature", importing.source_root)
    source_project.post(f"/repository/commits/{head.json()['commit']['id']}/comments", note="On a commit")
    source_project.api.delete(f"/projects/{source_project.id}/protected_branches/master", importing.source_root)
    entity = importing.import_project(source_project.path, "everything")
    assert (entity["status"], entity["failures"]) == ("finished", []), entity
    project_id = entity["project_id"]
    project = importing.api.get(f"/projects/{project_id}", importing.root).json()
    assert (project["import_status"], project["description"]) == ("finished", "A source")
    assert _titles(importing, project_id, "issues") == [(1, "Issue 1", "opened"), (3, "Issue 3", "closed")]
    assert _titles(importing, project_id, "merge_requests") == [(1, "Add a file", "opened")]
    notes = importing.api.get(f"/projects/{project_id}/issues/1/notes", importing.root).json()
    assert [note["body"] for note in notes if not note["system"]] == ["A comment on #2"]
    assert notes[0]["author"]["name"] == "Bob Reviewer"
    related = importing.api.get(f"/projects/{project_id}/issues/1/related_merge_requests", importing.root).json()
    assert [each["iid"] for each in related] == [1]
    branches = importing.api.get(f"/projects/{project_id}/repository/branches", importing.root).json()
    assert [(branch["name"], branch["protected"]) for branch in branches] == [("feature", False), ("master", False)]
    commit_id = branches[0]["commit"]["id"]
    comments = importing.api.get(f"/projects/{project_id}/repository/commits/{commit_id}/comments", importing.root)
    assert [each["note"] for each in comments.json()] == ["On a commit"]
    wikis: list[dict[str, Any]] = importing.api.get(f"/projects/{project_id}/wikis", importing.root).json()
    assert [page["title"] for page in wikis] == ["Home"]


def test_a_repeated_import_writes_nothing(importing: ImportingInstance, api: Api, make: Make) -> None:
    """The second run finds everything unchanged; a third one imports what was added meanwhile."""
    source_project = SourceProject(api, make)
    first = importing.import_project(source_project.path, "repeated")
    second = importing.import_project(source_project.path, "repeated")
    assert (second["status"], second["project_id"]) == ("finished", first["project_id"])
    report = _report(importing, second)
    written = {
        each["kind"]: (each["created"], each["updated"]) for each in report["kinds"] if each["created"] is not None
    }
    assert {kind: numbers for kind, numbers in written.items() if numbers != (0, 0)} == {}
    assert report["requests"] <= 100

    source_project.post("/issues", title="Late")
    source_project.post("/issues/1/notes", body="Later")
    third = importing.import_project(source_project.path, "repeated")
    titles = _titles(importing, third["project_id"], "issues")
    assert [title for _, title, _ in titles] == ["Issue 1", "Issue 3", "Late"]
    notes = importing.api.get(f"/projects/{third['project_id']}/issues/1/notes", importing.root).json()
    assert sorted(note["body"] for note in notes if not note["system"]) == ["A comment on #2", "Later"]


def _report(importing: ImportingInstance, entity: dict[str, Any]) -> dict[str, Any]:
    report = importing.api.get(f"/bulk_imports/{entity['bulk_import_id']}/report", importing.root).json()
    (found,) = report["entities"]
    first: dict[str, Any] = found
    return first


def test_report(importing: ImportingInstance, source_project: SourceProject) -> None:
    """It counts every kind on both sides, as JSON and as text."""
    entity = importing.import_project(source_project.path, "reported")
    report = _report(importing, entity)
    kinds = {each["kind"]: each for each in report["kinds"]}
    assert kinds["issues"]["source"] == kinds["issues"]["stored"] == kinds["issues"]["received"]
    assert kinds["issue notes"]["stored"] == kinds["issue notes"]["received"] > 0, report
    assert report["differences"] == [], report
    text = importing.api.get(f"/bulk_imports/{entity['bulk_import_id']}/report", importing.root, format="text")
    assert text.headers["content-disposition"] == f'attachment; filename="import-{entity["bulk_import_id"]}.txt"'
    assert "issues" in text.text
    assert "No differences." in text.text
    assert importing.source_root.token not in text.text
