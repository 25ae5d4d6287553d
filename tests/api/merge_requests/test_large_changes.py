"""Very large merge requests: diffs are truncated and marked."""

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History


def test_thousands_of_files_and_one_long_line(instance: Instance, api: Api, make: Make) -> None:
    project = make_project(make)
    made = History()
    made.commit(files={"a": "1\n"})
    many: dict[str, str] = {f"many/{number:05}": f"{number}\n" for number in range(1_500)}
    made.commit("topic", files={"0": "x" * 6_000_000, **many}, parents=(1,))
    made.fill(instance, project)
    sent = {"source_branch": "topic", "target_branch": "master", "title": "All of it"}
    opened = api.post(f"{project.url}/merge_requests", make.root, **sent).json()
    answer = api.get(f"{project.url}/merge_requests/{opened['iid']}/changes", make.root)
    shown = answer.json()
    assert (answer.status_code, shown["overflow"]) == (200, True)
    assert len(answer.content) < 2 * 2**20
    first, *others = shown["changes"]
    assert (first["new_path"], first["diff"], first["too_large"]) == ("0", "", True)
    assert len([change for change in others if change["diff"]]) <= 1_000
    assert all(change["collapsed"] for change in others if not change["diff"])
    versions = api.get(f"{project.url}/merge_requests/{opened['iid']}/versions", make.root).json()
    one = api.get(f"{project.url}/merge_requests/{opened['iid']}/versions/{versions[0]['id']}", make.root)
    assert one.status_code == 200
    assert len(one.content) < 2 * 2**20
    diffs = api.get(f"{project.url}/merge_requests/{opened['iid']}/diffs", make.root, per_page=100)
    assert (diffs.status_code, len(diffs.json())) == (200, 100)
