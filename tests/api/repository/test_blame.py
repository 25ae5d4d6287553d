"""Who wrote each line of a file last."""

from typing import Any

import pytest

from ingot.git.history import blame
from tests.api.repository.sample_repository import NAMES, SampleRepository, in_path, make_sample
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History, repository_of


@pytest.fixture(scope="module")
def sample(instance: Instance, make: Make) -> SampleRepository:
    return make_sample(instance, make)


def _blame(api: Api, sample: SampleRepository, path: str, **params: Any) -> list[tuple[str, list[str]]]:
    answer = api.get(f"{sample.url}/files/{in_path(path)}/blame", None, ref="master", **params)
    assert answer.status_code == 200, answer.text
    return [(part["commit"]["id"], part["lines"]) for part in answer.json()]


def test_lines_are_grouped_by_their_commits(api: Api, sample: SampleRepository) -> None:
    first, second = sample.commits[1], sample.commits[2]

    answer = api.get(f"{sample.url}/files/README.md/blame", ref="master")

    assert [(part["commit"]["id"], part["lines"]) for part in answer.json()] == [
        (first, ["line one"]),
        (second, ["line 2"]),
        (first, ["line three"]),
    ]
    assert answer.json()[1]["commit"] == {
        "id": second,
        "parent_ids": [first],
        "message": "Change",
        "authored_date": "2017-07-14T04:42:00.000+02:00",
        "author_name": "Ada Writer",
        "author_email": "ada@example.org",
        "committed_date": "2017-07-14T04:42:00.000+02:00",
        "committer_name": "Ada Writer",
        "committer_email": "ada@example.org",
    }
    assert answer.headers["x-gitlab-last-commit-id"] == second


def test_a_range_of_lines(api: Api, sample: SampleRepository) -> None:
    first, second = sample.commits[1], sample.commits[2]

    assert _blame(api, sample, "README.md", **{"range[start]": 2, "range[end]": 2}) == [(second, ["line 2"])]
    beyond = _blame(api, sample, "README.md", **{"range[start]": 2, "range[end]": 2**62})
    assert beyond == [(second, ["line 2"]), (first, ["line three"])]


@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (1, 0), (-1, 2), (3, 2), (4, 9), ("x", 2), ("", 2), (1, ""), (1, 10**30), ("1,5", 2)]
)
def test_lines_that_are_none_are_refused(api: Api, sample: SampleRepository, start: object, end: object) -> None:
    params = {"range[start]": start, "range[end]": end}

    answer = api.get(f"{sample.url}/files/README.md/blame", None, ref="master", **params)

    assert answer.status_code == 400, answer.text
    assert list(answer.json()["message"]) == ["range"]


def test_half_a_range_is_refused(api: Api, sample: SampleRepository) -> None:
    for params in ({"range[start]": 1}, {"range": 1}, {"range[]": 1}):
        answer = api.get(f"{sample.url}/files/README.md/blame", None, ref="master", **params)
        assert answer.status_code == 400, answer.text


@pytest.mark.parametrize("name", NAMES)
def test_a_name_may_be_anything(api: Api, sample: SampleRepository, name: str) -> None:
    assert _blame(api, sample, name) == [(sample.commits[1], [f"This is {name!r}"])]


def test_what_is_no_text_has_lines_too(api: Api, sample: SampleRepository) -> None:
    assert _blame(api, sample, "empty") == []
    assert _blame(api, sample, "latin.txt") == [(sample.commits[1], ["naïve café"])]
    assert _blame(api, sample, "link") == [(sample.commits[1], ["README.md"])]
    assert sum(len(lines) for _, lines in _blame(api, sample, "binary.bin")) == 11
    for path in ("module", "deep", "nowhere"):
        answer = api.get(f"{sample.url}/files/{path}/blame", ref="master")
        assert (answer.status_code, answer.json()) == (404, {"message": "404 File Not Found"})


def test_a_line_cannot_pass_for_what_git_says_about_it(api: Api, instance: Instance, make: Make) -> None:
    project = make_project(make, visibility="public")
    history = History()
    lines = ["\ttabbed", "1" * 40 + " 1 1 1", "filename x", "", "author Eve", "no newline at the end"]
    history.commit(files={"tricky": "\n".join(lines)}, message="1" * 40 + " 1 1 1")
    commits = history.into(repository_of(instance, project))

    answer = api.get(f"{project.url}/repository/files/tricky/blame", ref="master").json()

    assert [(part["commit"]["id"], part["lines"]) for part in answer] == [(commits[1], lines)]


def test_a_file_of_many_lines_is_told_part_by_part(
    api: Api, instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "MAX_LINES", 5)
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"five": "x\n" * 5, "many": "".join(f"{number}\n" for number in range(12))})
    history.into(repository_of(instance, project))
    url = f"{project.url}/repository/files"

    def lines(path: str, start: int, end: int) -> list[str]:
        asked = {"range[start]": start, "range[end]": end}
        answer = api.get(f"{url}/{path}/blame", None, ref="master", **asked)
        assert answer.status_code == 200, answer.text
        return [line for part in answer.json() for line in part["lines"]]

    assert len(api.get(f"{url}/five/blame", ref="master").json()[0]["lines"]) == 5
    assert lines("many", 6, 10) == ["5", "6", "7", "8", "9"]
    assert lines("many", 8, 2**62) == ["7", "8", "9", "10", "11"]
    for asked in ({}, {"range[start]": 2, "range[end]": 7}, {"range[start]": 1, "range[end]": 2**62}):
        refused = api.get(f"{url}/many/blame", None, ref="master", **asked)
        assert (refused.status_code, refused.json()["message"]) == (
            400,
            {"range": ["is required and may contain at most 5 lines"]},
        )


def test_a_file_that_is_too_large_is_refused_in_words(api: Api, instance: Instance, make: Make) -> None:
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"large": b"x" * (blame.MAX_BYTES + 1)})
    history.into(repository_of(instance, project))

    answer = api.get(f"{project.url}/repository/files/large/blame", ref="master")

    assert answer.status_code == 400
    assert "too large" in answer.json()["message"]


def test_a_long_file_is_refused_before_git_runs(
    api: Api, instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: request the blame of a file that is too long, which cost as much as the longest allowed one."""
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"long": "x\n" * (blame.MAX_LINES + 1), "longer": b"\n" * (2**20 + 1), "open": "a\nb"})
    history.into(repository_of(instance, project))
    url = f"{project.url}/repository/files"
    assert [part["lines"] for part in api.get(f"{url}/open/blame", ref="master").json()] == [["a", "b"]]
    last = {"range[start]": blame.MAX_LINES + 1, "range[end]": blame.MAX_LINES + 1}
    assert api.get(f"{url}/long/blame", None, ref="master", **last).json()[0]["lines"] == ["x"]

    def run_git(*_: Any, **__: Any) -> Any:
        raise AssertionError("git was run")

    monkeypatch.setattr(blame, "run_git", run_git)
    beyond, long = {"range[start]": 2**21, "range[end]": 2**22}, {"range[start]": 1, "range[end]": blame.MAX_LINES + 1}
    for path, asked in ((path, asked) for path in ("long", "longer") for asked in ({}, long, beyond)):
        refused = api.get(f"{url}/{path}/blame", None, ref="master", **asked)
        assert (refused.status_code, list(refused.json()["message"])) == (400, ["range"])
