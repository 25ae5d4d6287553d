"""Reported version."""

import re

import pytest

from ingot.core.version import product_version
from tests.client import Api, Make
from tests.conftest import Instance

PATHS = ["/version", "/metadata"]


@pytest.mark.parametrize("path", PATHS)
def test_every_user_may_read_the_version(api: Api, make: Make, path: str) -> None:
    assert api.get(path).status_code == 401
    assert api.get(path, as_user=make.user()).status_code == 200
    assert api.get(path, as_user=make.root).status_code == 200


def test_version_is_the_configured_one(api: Api, make: Make, instance: Instance) -> None:
    said = api.get("/version", as_user=make.user()).json()

    assert said.keys() == {"version", "revision", "ingot_version"}
    assert said["ingot_version"] == product_version()
    assert said["version"] == instance.settings.reported_version
    assert re.fullmatch(r"\d+\.\d+\.\d+", said["version"])
    assert re.fullmatch(r"[0-9a-f]{7}", said["revision"])


def test_metadata_agrees_with_version(api: Api, make: Make) -> None:
    said = api.get("/metadata", as_user=make.root).json()

    assert {name: said[name] for name in ("version", "revision", "ingot_version")} == api.get(
        "/version", as_user=make.root
    ).json()
    assert said["kas"] == {"enabled": False, "externalUrl": None, "version": None}
    assert said["enterprise"] is False


@pytest.mark.parametrize("path", PATHS)
def test_a_token_with_the_read_user_scope_is_rejected(api: Api, make: Make, path: str) -> None:
    user = make.user()
    narrow = user.with_token(make.token(user.id, "read_user"))

    assert api.get("/user", as_user=narrow).status_code == 200
    assert api.get(path, as_user=narrow).status_code == 403
