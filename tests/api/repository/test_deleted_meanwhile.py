"""A project that is deleted while its repository is worked with is as good as none; nothing about it is a fault."""

from typing import Any, NoReturn

import httpx
import pytest

from ingot.git.core.errors import DamagedRepository
from ingot.repositories.branches import staged
from tests.client import Api, Make
from tests.conftest import House
from tests.making import make_project


@pytest.mark.parametrize("trouble", [FileNotFoundError, DamagedRepository])
def test_a_project_that_goes_under_a_call(
    api: Api, make: Make, monkeypatch: pytest.MonkeyPatch, trouble: type[Exception]
) -> None:
    """Its files go at once, so git stumbles over what is not there any more."""
    owner = make.user()
    project = make_project(make, owner, initialize_with_readme=True)

    def delete_first(*_: Any, **__: Any) -> NoReturn:
        assert api.delete(project.url, owner).status_code == 200
        raise trouble

    monkeypatch.setattr(staged, "change_refs", delete_first)
    answer = api.post(f"{project.url}/repository/branches", owner, branch="topic", ref="master")
    assert (answer.status_code, answer.json()) == (404, {"message": "404 Project Not Found"})


def test_a_fault_of_ours_stays_one(house: House, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is still there does not look as if it were not."""
    owner = make.user()
    project = make_project(make, owner, initialize_with_readme=True)

    def fail(*_: Any, **__: Any) -> NoReturn:
        raise FileNotFoundError

    monkeypatch.setattr(staged, "change_refs", fail)
    url = f"{house.url}/api/v4{project.url}/repository/branches"
    sent = {"branch": "topic", "ref": "master"}
    assert httpx.post(url, headers={"PRIVATE-TOKEN": owner.token}, json=sent).status_code == 500
