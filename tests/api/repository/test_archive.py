"""Archives of a repository."""

import gzip
import io
import subprocess
import tarfile
import zipfile
from bz2 import decompress
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.api.repository.sample_repository import HOSTILE_REFS, NAMES, SampleRepository, as_shown, make_sample
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History, repository_of

SPELLINGS = [
    ("/repository/archive", "tar.gz"),
    ("/repository/archive.tar.gz", "tar.gz"),
    ("/repository/archive.tgz", "tar.gz"),
    ("/repository/archive.gz", "tar.gz"),
    ("/repository/archive.tar.bz2", "tar.bz2"),
    ("/repository/archive.tbz", "tar.bz2"),
    ("/repository/archive.tbz2", "tar.bz2"),
    ("/repository/archive.tb2", "tar.bz2"),
    ("/repository/archive.bz2", "tar.bz2"),
    ("/repository/archive.tar", "tar"),
    ("/repository/archive.zip", "zip"),
]
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "tar.gz": gzip.decompress,
    "tar.bz2": decompress,
    "tar": bytes,
    "zip": bytes,
}


@pytest.fixture(scope="module")
def sample(instance: Instance, make: Make) -> SampleRepository:
    return make_sample(instance, make)


def _by_git(sample: SampleRepository, prefix: str, form: str, *paths: str) -> bytes:
    plain = "zip" if form == "zip" else "tar"
    asked = [
        "git",
        "--literal-pathspecs",
        "archive",
        f"--format={plain}",
        f"--prefix={prefix}/",
        "master",
        "--",
        *paths,
    ]
    return subprocess.run(asked, cwd=sample.repository.path, capture_output=True, check=True).stdout


def _name(sample: SampleRepository, ref: str, commit: str) -> str:
    return f"{sample.project.path.split('/')[-1]}-{ref}-{commit}"


@pytest.mark.parametrize(("part", "form"), SPELLINGS)
def test_every_format_equals_gits_archive(api: Api, sample: SampleRepository, part: str, form: str) -> None:
    name = _name(sample, "master", sample.tip)

    answer = api.get(sample.project.url + part)

    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.{form}"'
    assert answer.headers["content-type"] == ("application/zip" if form == "zip" else "application/octet-stream")
    assert "content-length" not in answer.headers
    assert UNPACK[form](answer.content) == _by_git(sample, name, form)


def test_the_format_may_be_a_parameter(api: Api, sample: SampleRepository) -> None:
    answer = api.get(f"{sample.url}/archive", format="zip")

    with zipfile.ZipFile(io.BytesIO(answer.content)) as unpacked:
        assert unpacked.testzip() is None
    wrong = api.get(f"{sample.url}/archive", format="rar")
    assert (wrong.status_code, wrong.json()) == (400, {"message": {"format": ["is invalid"]}})
    assert api.get(f"{sample.url}/archive.rar").status_code == 404


def test_files_keep_their_types(api: Api, sample: SampleRepository) -> None:
    answer = api.get(f"{sample.url}/archive.tar")
    root = _name(sample, "master", sample.tip)

    with tarfile.open(fileobj=io.BytesIO(answer.content)) as unpacked:
        assert unpacked.getmember(f"{root}/run.sh").mode & 0o100
        assert unpacked.getmember(f"{root}/link").linkname == "README.md"
        assert unpacked.getmember(f"{root}/module").isdir()
        names = unpacked.getnames()
    assert {f"{root}/{name}" for name in NAMES} <= set(names)


@pytest.mark.parametrize("name", NAMES)
def test_archive_of_a_path(api: Api, sample: SampleRepository, name: str) -> None:
    """Attack: a path with a special meaning to git is taken literally."""
    shown = as_shown(name)
    answer = api.get(f"{sample.url}/archive.tar", path=shown)

    assert answer.status_code == 200
    root = f"{_name(sample, 'master', sample.tip)}-{shown.replace('/', '-')}"
    assert answer.content == _by_git(sample, root, "tar", name)
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as unpacked:
        assert [member.name for member in unpacked if not member.isdir()] == [f"{root}/{name}"]


def test_every_kind_of_ref(api: Api, sample: SampleRepository) -> None:
    first = sample.commits[1]
    for ref, written in (("v1", "v1"), ("v1-annotated", "v1-annotated"), (first, first), (first[:8], first[:8])):
        answer = api.get(f"{sample.url}/archive.zip", sha=ref)
        assert f'"{_name(sample, written, first)}.zip"' in answer.headers["content-disposition"]
        with zipfile.ZipFile(io.BytesIO(answer.content)) as unpacked:
            assert f"{_name(sample, written, first)}/README.md" in unpacked.namelist()
    branched = api.get(f"{sample.url}/archive.zip", sha="feature/with/slash")
    assert _name(sample, "feature-with-slash", sample.commits[4]) in branched.headers["content-disposition"]


@pytest.mark.parametrize("ref", [ref for ref in HOSTILE_REFS if ref])
def test_a_hostile_ref_is_not_found(api: Api, sample: SampleRepository, ref: str) -> None:
    """Attack: a ref that looks like an option makes git write a file."""
    answer = api.get(f"{sample.url}/archive.tar.gz", sha=ref)

    assert (answer.status_code, answer.json()) == (404, {"message": "404 File Not Found"})
    assert not Path("/tmp/ingot-pwned").exists()


def test_a_missing_path(api: Api, sample: SampleRepository) -> None:
    answer = api.get(f"{sample.url}/archive.tar.gz", path="nowhere")
    assert (answer.status_code, answer.json()) == (404, {"message": "404 File Not Found"})
    assert api.get(f"{sample.url}/archive.tar.gz", path="../x").status_code == 400


def test_an_empty_repository_has_no_archive(api: Api, make: Make) -> None:
    project = make_project(make, visibility="public")

    answer = api.get(f"{project.url}/repository/archive")

    assert (answer.status_code, answer.json()) == (404, {"message": "404 File Not Found"})


def test_an_unchanged_archive_is_not_sent_again(api: Api, sample: SampleRepository) -> None:
    path = f"{sample.url}/archive.tar.gz"
    tag = api.request("HEAD", path).headers["etag"]

    held = api.request("GET", path, headers={"If-None-Match": tag})

    assert (held.status_code, held.content) == (304, b"")
    assert api.request("GET", f"{sample.url}/archive.zip", headers={"If-None-Match": tag}).status_code == 200
    assert api.request("GET", path + "?sha=v1", headers={"If-None-Match": tag}).status_code == 200


def test_a_disconnecting_client_stops_the_archive(api: Api, instance: Instance, make: Make) -> None:
    """After half of a large archive the connection is closed; the next request works."""
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={f"{number}.bin": bytes([number]) * 2**20 for number in range(40)})
    history.into(repository_of(instance, project))
    with httpx.stream("GET", f"{instance.url}/api/v4{project.url}/repository/archive.tar") as answer:
        assert len(next(answer.iter_raw())) > 0

    assert len(api.get(f"{project.url}/repository/archive.tar").content) > 40 * 2**20
