"""Sizes that administrators limit: pushes, snippets, wiki pages, CI configurations, imports and exports."""

import base64
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.transport.conftest import BASE, over_http

PATH = "/application/settings"
Configure = Callable[..., None]
SETTINGS = (
    "receive_max_input_size",
    "snippet_size_limit",
    "wiki_page_max_content_bytes",
    "max_yaml_size_bytes",
    "max_yaml_depth",
    "ci_max_includes",
    "ci_max_total_yaml_size_bytes",
    "max_import_size",
    "max_decompressed_archive_size",
    "max_export_size",
)


@pytest.fixture
def configure(api: Api, make: Make) -> Iterator[Configure]:
    """Yield a function that changes the settings until the test ends."""
    before = api.get(PATH, make.root).json()

    def change(**settings: Any) -> None:
        changed = api.put(PATH, make.root, **settings)
        assert changed.status_code == 200, changed.text

    yield change
    change(**{name: before[name] for name in SETTINGS})


def test_pushes(make: Make, instance: Instance, tmp_path: Path, configure: Configure) -> None:
    owner = make.user()
    url = over_http(instance, make_project(make, owner), owner)
    # Random bytes cannot be compressed.
    (tmp_path / "file").write_bytes(os.urandom(1_500_000))
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, env=BASE, check=True)

    def push() -> subprocess.CompletedProcess[str]:
        words = ["git", "push", url, "HEAD:refs/heads/master"]
        return subprocess.run(words, cwd=tmp_path, env=BASE, capture_output=True, text=True, check=False)

    configure(receive_max_input_size=1)
    refused = push()
    assert refused.returncode != 0, refused.stderr
    configure(receive_max_input_size=2)
    assert push().returncode == 0


def test_snippets_and_wiki_pages(api: Api, make: Make, configure: Configure) -> None:
    owner = make.user()
    project = make_project(make, owner)
    configure(snippet_size_limit=10, wiki_page_max_content_bytes=1024)

    for length, status in ((10, 201), (11, 400)):
        files = [{"file_path": "a.txt", "content": "x" * length}]
        created = api.post("/snippets", owner, title="s", visibility="private", files=files)
        assert created.status_code == status, created.text
    for length, status in ((512, 201), (513, 400)):
        created = api.post(f"{project.url}/wikis", owner, title=f"page {length}", content="é" * length)
        assert created.status_code == status, created.text


@pytest.mark.parametrize(
    ("settings", "text", "message"),
    [
        ({"max_yaml_size_bytes": 20}, "job: {script: 'echo a long line'}", "larger than 20 bytes"),
        ({"max_yaml_depth": 3}, "job: {script: [[[[x]]]]}", "nested too deeply"),
        ({"ci_max_includes": 0}, "include: {template: Bash.gitlab-ci.yml}", "Maximum of 0 nested includes"),
        ({"ci_max_total_yaml_size_bytes": 60}, "include: {template: Bash.gitlab-ci.yml}", "larger than 60 bytes"),
    ],
)
def test_ci_configurations(
    api: Api, make: Make, configure: Configure, settings: dict[str, int], text: str, message: str
) -> None:
    owner = make.user()
    project = make_project(make, owner, initialize_with_readme=True)

    def errors() -> str:
        return str(api.post(f"{project.url}/ci/lint", owner, content=text).json()["errors"])

    assert message not in errors()
    configure(**settings)
    assert message in errors()


def test_imports_and_exports(api: Api, make: Make, instance: Instance, configure: Configure) -> None:
    owner = make.user()
    project = make_project(make, owner, initialize_with_readme=True)
    noise = base64.b64encode(os.urandom(1_500_000))
    created = api.post(
        f"{project.url}/repository/files/noise.bin",
        owner,
        branch="master",
        content=noise.decode(),
        encoding="base64",
        commit_message="Add noise",
    )
    assert created.status_code == 201, created.text

    def export() -> str:
        assert api.post(f"{project.url}/export", owner).status_code == 202
        instance.work()
        return str(api.get(f"{project.url}/export", owner).json()["export_status"])

    configure(max_export_size=1)
    assert export() != "finished"
    configure(max_export_size=2)
    assert export() == "finished"
    archive = api.get(f"{project.url}/export/download", owner).content

    def import_status() -> str:
        files = {"file": ("archive.tar.gz", archive)}
        started = api.request("POST", "/projects/import", owner, data={"path": make.name("copy")}, files=files)
        if started.status_code != 201:
            return str(started.status_code)
        instance.work()
        return str(api.get(f"/projects/{started.json()['id']}/import", owner).json()["import_status"])

    configure(max_import_size=1)
    assert import_status() == "413"
    configure(max_import_size=10, max_decompressed_archive_size=1)
    assert import_status() == "failed"
    configure(max_decompressed_archive_size=10)
    assert import_status() == "finished"


@pytest.mark.parametrize(
    "sent",
    [
        {"receive_max_input_size": 0},
        {"snippet_size_limit": 0},
        {"wiki_page_max_content_bytes": 1023},
        {"max_yaml_depth": 101},
        {"max_export_size": -1},
        {"max_import_remote_file_size": 10_241},
    ],
)
def test_invalid_sizes_are_refused(api: Api, make: Make, sent: dict[str, int]) -> None:
    assert api.put(PATH, make.root, **sent).status_code == 400


def test_values_of_gitlab_are_accepted(api: Api, make: Make, configure: Configure) -> None:
    """Clients send its defaults; larger files than this server can hold are refused in any case."""
    owner = make.user()
    configure(snippet_size_limit=52_428_800, wiki_page_max_content_bytes=52_428_800)
    with changed_settings(make, max_import_remote_file_size=10_240, max_artifacts_content_include_size=5_242_880):
        shown = api.get(PATH, make.root).json()
    assert (shown["snippet_size_limit"], shown["max_artifacts_content_include_size"]) == (52_428_800, 5_242_880)
    for length, status in ((2**20, 201), (2**20 + 1, 400)):
        sent = {"title": "s", "file_name": "a.txt", "content": "x" * length}
        assert api.post("/snippets", owner, **sent).status_code == status
    page = api.post(f"{make_project(make, owner).url}/wikis", owner, title="long", content="x" * 1_000_001)
    assert page.json() == {"message": {"content": ["is too long (maximum is 1000000 characters)"]}}


def test_diffs_within_limits(api: Api, make: Make) -> None:
    project = make_project(make)
    files = {f"{number}.txt": "line\n" * 20 for number in range(3)}
    commit_files(make, project, files)
    url = f"{project.url}/repository/commits/main/diff"

    def shown() -> list[bool]:
        return [bool(each["diff"]) for each in api.get(url, make.root).json()]

    for limit, expected in (
        ({"diff_max_files": 2}, [True, True, False]),
        ({"diff_max_lines": 25}, [True, False, False]),
        ({"diff_max_patch_bytes": 50}, [False] * 3),
    ):
        with changed_settings(make, **limit):
            assert shown() == expected, limit
    assert shown() == [True] * 3
