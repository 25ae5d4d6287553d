"""Import URLs that are rejected before a project is created."""

from collections.abc import Iterator

import pytest

from tests.client import Api, Make
from tests.git.git_server import GitServer, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """Yield a git server that must not be reached."""
    with serving(GitServer(tmp_path_factory.mktemp("served"))) as running:
        yield running


REFUSED = [
    "file:///etc",
    "/etc",
    "ext::sh -c id",
    "ssh://git@example.com/x.git",
    "git@example.com:x.git",
    "git://example.com/x.git",
    "ftp://example.com/x.git",
    "gopher://example.com/x",
    "unix:/var/run/x",
    "--upload-pack=id",
    "http://-oProxy=id/x.git?x",
    "http://example.com/x.git\nhost: other",
    "http://example.com/x.git\x01",
    "http://example.com/a b.git",
    "http://u@h/.proxy=http://x",
    "http://example.com/x.git?x=y",
    "http://example.com/x.git#x",
    "http://exämple.com/x.git",
    "http:///x.git",
    "http://example.com:99999/x.git",
    "http://example.com/" + "x" * 3000,
    "nonsense",
]
LOCAL = [
    "http://127.0.0.1:{port}/x.git",
    "http://user:password@127.0.0.1:{port}/x.git",
    "http://localhost:{port}/x.git",
    "http://localhost.:{port}/x.git",
    "http://LOCALHOST:{port}/x.git",
    "http://0177.1:{port}/x.git",
    "http://0x7f.1:{port}/x.git",
    "http://2130706433:{port}/x.git",
    "http://127.1:{port}/x.git",
    "http://0:{port}/x.git",
    "http://[::1]:{port}/x.git",
    "http://[::ffff:127.0.0.1]:{port}/x.git",
    "http://[fe80::1]:{port}/x.git",
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/x.git",
    "http://192.168.1.1/x.git",
]


@pytest.mark.parametrize("url", REFUSED + LOCAL)
def test_forbidden_urls_are_rejected(api: Api, make: Make, server: GitServer, url: str) -> None:
    """Attack: local files, other protocols, options, and internal addresses; a valid URL is accepted."""
    name = make.name("refused")
    answer = api.post("/projects", make.root, name=name, import_url=url.format(port=server.port))
    assert answer.status_code == 400, answer.text
    ((field, reasons),) = answer.json()["message"].items()
    assert field == "import_url"
    assert len(reasons) == 1
    assert "password" not in reasons[0] or "user name" in reasons[0]
    assert api.get(f"/projects/root%2F{name}", make.root).status_code == 404
    assert server.asked == []
    taken = api.post("/projects", make.root, name=name, import_url="https://example.com/x.git")
    assert taken.status_code == 201
    # No connection may leave the test machine.
    assert api.delete(f"/projects/{taken.json()['id']}", make.root).status_code == 200
