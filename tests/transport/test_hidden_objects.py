"""Hidden objects: commits of invisible merge requests cannot be fetched by id."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.transport.conftest import GitRemote, Tree, over_http, over_ssh
from tests.transport.wire import auth_of, exchange, packet


class HiddenMergeRequest(NamedTuple):
    """Project with a merge request whose branch was deleted."""

    owner: User
    project: Project
    old: str
    """An early commit of master, with a file that was removed later and restored by the merge request."""
    tip: str
    version: str
    """Head of the merge request before a force push."""
    head: str
    secret: str
    """Blob that only the merge request contains."""
    again: str
    """Blob that it shares with the early commit."""


@pytest.fixture
def hidden(instance: Instance, api: Api, make: Make, tree: Tree) -> HiddenMergeRequest:
    owner = make.user()
    project = make_project(make, owner, visibility="public")
    url = over_http(instance, project, owner)
    old = tree.commit("again", "was here before\n")
    tree.git("rm", "-q", "again")
    tree.commit("other", "other\n")
    tip = tree.commit("third", "third\n")
    tree.git("checkout", "-q", "-b", "topic")
    version = tree.commit("first", "first\n")
    tree.git("push", "-q", url, "master", "topic")
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Topic"}
    assert api.post(f"/projects/{project.id}/merge_requests", owner, **sent).status_code == 201
    tree.git("reset", "-q", "--hard", tip)
    tree.commit("secret", "nobody knows\n")
    head = tree.commit("again", "was here before\n")
    tree.git("push", "-q", "--force", url, "topic")
    tree.git("push", "-q", url, ":topic")
    secret, again = tree.git("rev-parse", f"{head}:secret"), tree.git("rev-parse", f"{head}:again")
    return HiddenMergeRequest(owner, project, old, tip, version, head, secret, again)


def test_objects_of_hidden_merge_requests_cannot_be_fetched(
    api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote], hidden: HiddenMergeRequest
) -> None:
    chosen = git_remote(make.user())
    url = chosen.url(hidden.project)
    empty = Tree(tree.folder.parent / "empty", chosen.env)
    empty.folder.mkdir()
    empty.git("init", "-q")
    assert api.put(f"/projects/{hidden.project.id}", hidden.owner, merge_requests_enabled=False).status_code == 200

    for version, loud in (("0", hidden.head), ("2", hidden.head.upper())):
        empty.git("config", "protocol.version", version)
        for oids in ([loud], [hidden.version], ["master", hidden.secret]):
            assert "not our ref" in empty.git("fetch", "-q", url, *oids, fails=True), oids
        empty.git("fetch", "-q", "--depth=1", url, hidden.tip, hidden.old, hidden.again)
    empty.git("clone", "-q", "--filter=blob:none", url, "partly")
    empty.git("-C", "partly", "checkout", "-q", hidden.old)
    assert (empty.folder / "partly" / "again").read_text() == "was here before\n"

    assert api.put(f"/projects/{hidden.project.id}", hidden.owner, merge_requests_enabled=True).status_code == 200
    empty.git("fetch", "-q", url, hidden.head, hidden.version)


def test_no_request_bypasses_the_check(instance: Instance, api: Api, hidden: HiddenMergeRequest) -> None:
    """Attack: requests without an end, in chunks, malformed, or with other content."""
    assert api.put(f"/projects/{hidden.project.id}", hidden.owner, merge_requests_enabled=False).status_code == 200
    path, auth = f"{hidden.project.path}.git", auth_of(hidden.owner)
    two = {"Git-Protocol": "version=2"}
    want = packet(f"want {hidden.head}\n")
    asking = packet("command=fetch") + b"0001"
    for headers, body in (
        ({}, want + b"0000" + packet("done\n")),
        ({}, want),
        ({}, packet(f"want {hidden.tip}\n") + want + b"0000" + packet("done\n")),
        (two, asking + want + packet("done\n") + b"0000"),
        (two, asking + packet("done\n") + want + b"0000"),
        (two, asking + packet(f"want {hidden.tip}\n") + packet("done\n") + b"0000" + asking + want + b"0000"),
        (two, packet("command=object-info") + b"0001" + packet("size") + packet(f"oid {hidden.secret}") + b"0000"),
    ):
        answer = exchange(instance, path, "upload", body, auth, headers)
        assert b"not our ref" in answer.content and b"PACK" not in answer.content.partition(b"ERR")[2], body
    for garbage in (b"zzzz", b"0003", b"00", b"ffff"):
        assert exchange(instance, path, "upload", garbage + want, auth, two).status_code in (200, 400)
        assert b"PACK" not in exchange(instance, path, "upload", asking + garbage + want + b"0000", auth, two).content


def test_the_api_does_not_show_them(
    instance: Instance,
    api: Api,
    make: Make,
    tree: Tree,
    hidden: HiddenMergeRequest,
    ssh_key: Callable[[User], dict[str, str]],
) -> None:
    here, reader = f"/projects/{hidden.project.id}", make.user()
    code = f"{here}/repository"
    asked = [
        f"{code}/commits/{hidden.head}",
        f"{code}/commits/{hidden.head[:12]}",
        f"{code}/commits/{hidden.head}/diff",
        f"{code}/blobs/{hidden.secret}",
        f"{code}/blobs/{hidden.secret[:12]}/raw",
        f"{code}/tree?ref={hidden.head}",
        f"{code}/files/secret/raw?ref={hidden.head}",
        f"{code}/compare?from={hidden.tip}&to={hidden.head}",
        f"{code}/archive?sha={hidden.head}",
    ]
    for path in asked:
        assert api.get(path, reader).status_code == 200, path
    assert api.put(here, hidden.owner, merge_requests_enabled=False).status_code == 200
    for path in asked:
        assert api.get(path, reader).status_code == 404, path
    assert api.get(f"{here}/search?scope=commits&search={hidden.head}", reader).json() == []
    assert api.post(f"{code}/branches", hidden.owner, branch="mine", ref=hidden.head).status_code == 400
    text = api.post("/markdown", reader, text=hidden.head, gfm=True, project=hidden.project.path)
    assert "A change" not in text.text and "commit/" not in text.text
    for path in (f"commits/{hidden.old}", f"commits/{hidden.tip[:12]}", f"blobs/{hidden.again}", "commits/master"):
        assert api.get(f"{code}/{path}", reader).status_code == 200, path

    tree.env = ssh_key(reader)
    archive = ("archive", f"--remote={over_ssh(instance, hidden.project)}", "--format=tar")
    assert tree.git(*archive, hidden.head, fails=True)
    assert tree.git(*archive, "-o", "got.tar", "master") == ""
