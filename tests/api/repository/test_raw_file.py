"""Raw file content: safe in browsers, in ranges, at any size."""

import random
import subprocess
from hashlib import sha256

import httpx
import pytest

from ingot.git.trees.blobs import read_blob, stream_blob
from tests.api.repository.sample_repository import BINARY, NAMES, TEXT, SampleRepository, in_path, make_sample
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History, repository_of

LARGE = 30 * 2**20
CONTENT = TEXT.replace("two", "2").encode()


@pytest.fixture(scope="module")
def sample(instance: Instance, make: Make) -> SampleRepository:
    return make_sample(instance, make)


@pytest.fixture(scope="module")
def large(instance: Instance, make: Make) -> tuple[SampleRepository, bytes]:
    """Return a project with one incompressible file of 30 MB."""
    content = random.Random(1).randbytes(LARGE)
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"large.bin": content, "large.txt": b"text\n" * 2**19})
    repository = repository_of(instance, project)
    return SampleRepository(project, repository, history.into(repository)), content


def _raw(api: Api, sample: SampleRepository, path: str, **headers: str) -> httpx.Response:
    return api.request("GET", f"{sample.url}/files/{in_path(path)}/raw?ref=master", headers=headers)


@pytest.mark.parametrize("name", NAMES)
def test_content_is_returned_unchanged(api: Api, sample: SampleRepository, name: str) -> None:
    answer = _raw(api, sample, name)

    assert answer.status_code == 200
    assert answer.content == f"This is {name!r}\n".encode()


@pytest.mark.parametrize(
    ("path", "kind", "how"),
    [
        ("README.md", "text/plain; charset=utf-8", "inline"),
        ("latin.txt", "text/plain; charset=iso-8859-1", "inline"),
        ("picture.svg", "text/plain; charset=utf-8", "inline"),
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("empty", "text/plain; charset=utf-8", "inline"),
        ("link", "text/plain; charset=utf-8", "inline"),
        ("binary.bin", "application/octet-stream", "attachment"),
    ],
)
def test_browsers_show_text_or_download_and_run_nothing(
    api: Api, sample: SampleRepository, path: str, kind: str, how: str
) -> None:
    """Attack: an SVG or HTML file runs a script in the origin of the instance."""
    answer = _raw(api, sample, path)

    assert answer.headers["content-type"] == kind
    assert answer.headers["content-disposition"] == f'{how}; filename="{path}"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"


def test_file_names_are_encoded_for_every_browser(api: Api, sample: SampleRepository) -> None:
    assert _raw(api, sample, "🦊.txt").headers["content-disposition"] == (
        "inline; filename=\"_.txt\"; filename*=UTF-8''%F0%9F%A6%8A.txt"
    )
    assert _raw(api, sample, 'quo"te').headers["content-disposition"] == (
        "inline; filename=\"quo_te\"; filename*=UTF-8''quo%22te"
    )


def test_directories_and_missing_files_are_not_found(api: Api, sample: SampleRepository) -> None:
    for path in ("nowhere", "module", "deep"):
        answer = _raw(api, sample, path)
        assert (answer.status_code, answer.json()) == (404, {"message": "404 File Not Found"})


def test_headers_describe_the_file(api: Api, sample: SampleRepository) -> None:
    for method in ("GET", "HEAD"):
        answer = api.request(method, f"{sample.url}/files/README.md/raw?ref=master")
        assert answer.headers["x-gitlab-last-commit-id"] == sample.commits[2]
        assert answer.headers["x-gitlab-content-sha256"] == sha256(CONTENT).hexdigest()
        assert answer.headers["x-gitlab-size"] == answer.headers["content-length"] == str(len(CONTENT))


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, len(CONTENT)),
        ("bytes=5-9", 5, 10),
        ("bytes=5-999999999999", 5, len(CONTENT)),
        ("bytes=-4", len(CONTENT) - 4, len(CONTENT)),
        ("bytes=-999999", 0, len(CONTENT)),
        ("Bytes = 3 - 4", 3, 5),
    ],
)
def test_a_range_is_returned_alone(api: Api, sample: SampleRepository, asked: str, start: int, stop: int) -> None:
    answer = _raw(api, sample, "README.md", Range=asked)

    assert answer.status_code == 206
    assert answer.content == CONTENT[start:stop]
    assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(CONTENT)}"
    assert answer.headers["accept-ranges"] == "bytes"


@pytest.mark.parametrize(
    "asked", ["bytes=", "bytes=-", "bytes=5-3", "lines=1-2", "bytes=0-1,3-4", "x", "", "bytes=" + "9" * 50 + "-"]
)
def test_an_invalid_range_returns_the_whole_file(api: Api, sample: SampleRepository, asked: str) -> None:
    answer = _raw(api, sample, "README.md", Range=asked)

    assert (answer.status_code, answer.content) == (200, CONTENT)


@pytest.mark.parametrize(
    ("path", "asked"), [("README.md", "bytes=9999-"), ("README.md", "bytes=-0"), ("empty", "bytes=0-")]
)
def test_a_range_beyond_the_end_is_rejected(api: Api, sample: SampleRepository, path: str, asked: str) -> None:
    answer = _raw(api, sample, path, Range=asked)

    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{len(CONTENT) if path == 'README.md' else 0}"
    assert answer.json() == {"message": "416 Requested Range Not Satisfiable"}


def test_conditional_requests(api: Api, sample: SampleRepository) -> None:
    tag = _raw(api, sample, "README.md").headers["etag"]

    for wanted in (tag, f"W/{tag}", "*", f'"other", {tag}'):
        held = _raw(api, sample, "README.md", **{"If-None-Match": wanted})
        assert (held.status_code, held.content, held.headers["etag"]) == (304, b"", tag)
    assert _raw(api, sample, "README.md", **{"If-None-Match": '"other"'}).status_code == 200
    still = _raw(api, sample, "README.md", **{"If-Range": tag, "Range": "bytes=0-3"})
    assert (still.status_code, still.content) == (206, CONTENT[:4])
    changed = _raw(api, sample, "README.md", **{"If-Range": '"other"', "Range": "bytes=0-3"})
    assert (changed.status_code, changed.content) == (200, CONTENT)
    head = api.request("HEAD", f"{sample.url}/files/README.md/raw?ref=master", headers={"Range": "bytes=0-3"})
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(CONTENT)))


def test_a_large_file_is_streamed(api: Api, large: tuple[SampleRepository, bytes]) -> None:
    sample, content = large
    answer = _raw(api, sample, "large.bin")

    assert answer.headers["content-length"] == str(LARGE)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert sha256(answer.content).digest() == sha256(content).digest()
    assert _raw(api, sample, "large.txt").headers["content-type"] == "text/plain; charset=utf-8"


def test_a_large_file_is_not_held_in_memory(large: tuple[SampleRepository, bytes]) -> None:
    """It is read in small chunks."""
    sample, _ = large
    blob = read_blob(sample.repository, _oid_of(sample))

    sizes = [len(piece) for piece in stream_blob(blob, 0, LARGE)]

    assert (sum(sizes), max(sizes) <= 64 * 1024) == (LARGE, True)
    assert (blob.size, blob.body) == (LARGE, None)


def _oid_of(sample: SampleRepository) -> str:
    asked = ["git", "rev-parse", "master:large.bin"]
    return subprocess.run(asked, cwd=sample.repository.path, capture_output=True, text=True, check=True).stdout.strip()


def test_ranges_of_a_large_file(api: Api, large: tuple[SampleRepository, bytes]) -> None:
    sample, content = large
    for start, stop in ((0, 1), (65_530, 65_545), (LARGE // 2, LARGE // 2 + 200_000), (LARGE - 5, LARGE)):
        answer = _raw(api, sample, "large.bin", Range=f"bytes={start}-{stop - 1}")
        assert (answer.status_code, answer.content) == (206, content[start:stop])
        assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{LARGE}"
    assert _raw(api, sample, "large.bin", Range=f"bytes={LARGE}-").status_code == 416
    head = api.request("HEAD", f"{sample.url}/files/large%2Ebin/raw?ref=master")
    assert (head.headers["content-length"], head.content) == (str(LARGE), b"")


def test_binary_content_is_unchanged(api: Api, sample: SampleRepository) -> None:
    assert _raw(api, sample, "binary.bin").content == BINARY
