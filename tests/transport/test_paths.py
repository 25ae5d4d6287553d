"""Paths of repositories, and paths that lead to none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.git_history import History, repository_of
from tests.transport.conftest import GitRemote, Tree
from tests.transport.wire import MISSING, advertised_at, auth_of, call_git, connected, key_of

Give = Callable[..., dict[str, str]]


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, owner: User) -> Project:
    """Return a private project with a commit."""
    made = make_project(make, owner, visibility="private")
    history = History()
    history.commit(
        files={"config": "[core]\n\thooksPath = hooks\n", "hooks/pre-receive": ("100755", "#!/bin/sh\nexit 1\n")}
    )
    history.fill(instance, made)
    return made


def test_old_and_other_spellings(
    instance: Instance,
    api: Api,
    make: Make,
    owner: User,
    project: Project,
    tree: Tree,
    git_remote: Callable[[User], GitRemote],
) -> None:
    """In any case, without ``.git``, and by the old path after a rename."""
    chosen = git_remote(owner)
    tree.env = chosen.env
    url = chosen.url(project)
    for spelling in (url, url.replace(project.path, project.path.upper()), url.removesuffix(".git"), url + "/"):
        assert "refs/heads/master" in tree.git("ls-remote", spelling)
    group = make_group(make, owner)
    assert api.put(f"/projects/{project.id}", owner, path="renamed").status_code == 200
    assert api.put(f"/projects/{project.id}/transfer", make.root, namespace=group.id).status_code == 200
    assert "refs/heads/master" in tree.git("ls-remote", url)
    assert "refs/heads/master" in tree.git("ls-remote", chosen.url(f"{group.path}/renamed"))
    make_project(make, owner, name=project.name)
    assert tree.git("ls-remote", url) == "", "the current project at the path counts"


HOSTILE = [
    "../{path}.git",
    "{path}/../{path}.git",
    "%2e%2e/{path}.git",
    "x/%2e%2e/{path}.git",
    "{path}%00.git",
    "{path}.git%00",
    "%00",
    "//{path}.git",
    "{first}//{last}.git",
    "{first}%2f%2f{last}.git",
    "{path}.git.git",
    "{path}/x.git",
    "{id}.git",
    "{id}",
    "+{id}.git",
    "-{path}.git",
    "%ff%fe/{last}.git",
    "%ed%a0%80/{last}.git",
    "{path}%20.git",
    "{path}%0a.git",
    "{path}?x=.git",
    "etc/passwd",
    ".",
    "x" * 5000 + "/y.git",
]


def test_hostile_paths(instance: Instance, owner: User, project: Project, ssh_key: Give, tmp_path: Path) -> None:
    """They reveal nothing: authenticated users get 404, and anonymous ones are not asked for credentials."""
    first, last = project.path.split("/")
    parts = {"path": project.path, "first": first, "last": last, "id": str(project.id)}
    for path in (each.format(**parts) for each in HOSTILE):
        for service in ("upload", "receive"):
            target = f"/{path}/info/refs?service=git-{service}-pack"
            known, content = advertised_at(instance, target, auth_of(owner))
            nobody, _ = advertised_at(instance, target)
            assert (known, nobody) in ((404, 401), (404, 404)), path
            assert b"refs/heads" not in content
    with connected(instance, key_of(ssh_key(owner)), tmp_path) as connection:
        for path in (each.format(**parts) for each in HOSTILE):
            if not path.startswith("//"):  # Equal to one here: a URL has none before the host.
                said = connection.run(f"git-upload-pack '{path}'")
                assert (said.status, said.out) == (128, b""), path
        assert connection.run(f"git-upload-pack '/{project.id}'").err.strip() == MISSING


DUMB = [
    "HEAD",
    "config",
    "description",
    "packed-refs",
    "refs/heads/master",
    "info/refs",
    "info/refs?service=git-upload-archive",
    "info/refs?service=",
    "info/refs?service=git-upload-pack%00",
    "info/refs?service=git-upload-pack;x",
    "info/refs?x=1",
    "objects/info/packs",
    "objects/info/alternates",
    "objects/..%2f..%2fconfig",
    "objects/../config",
    "objects/?path=../config",
    "hooks/pre-receive",
    "git-upload-archive",
    "git-shell",
    "%48%45%41%44",
]


@pytest.mark.parametrize("inside", DUMB)
def test_files_of_a_repository_are_not_served(instance: Instance, owner: User, project: Project, inside: str) -> None:
    """Attack: path traversal in the dumb protocol; only the smart protocol is supported."""
    answers = []
    for path in (project.path, f"{owner.username}/never"):
        for method in ("GET", "POST", "PUT", "DELETE", "HEAD", "PROPFIND"):
            answer = call_git(instance, method, f"/{path}.git/{inside}", auth_of(owner))
            assert answer.status_code in (404, 405), (method, path)
            answers.append((method, answer.status_code, answer.content))
    assert answers[: len(answers) // 2] == answers[len(answers) // 2 :]


def test_methods_and_content_types(instance: Instance, owner: User, project: Project) -> None:
    """Wrong ones get an error if the caller may see the project."""
    path = f"/{project.path}.git"
    auth = auth_of(owner)
    for method, inside in (("POST", "info/refs?service=git-upload-pack"), ("GET", "git-upload-pack")):
        assert call_git(instance, method, f"{path}/{inside}", auth).status_code == 405
        assert call_git(instance, method, f"{path}/{inside}").status_code == 401
    for kind in ("", "text/plain", "application/x-git-receive-pack-request"):
        sent = {"Content-Type": kind} if kind else {}
        answer = call_git(instance, "POST", f"{path}/git-upload-pack", auth, sent, content=b"0000")
        assert answer.status_code == 415


def test_pushed_files_are_not_configuration(
    instance: Instance, owner: User, project: Project, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    """Attack: push files named like git's own, or hooks; they have no effect."""
    chosen = git_remote(owner)
    tree.env = chosen.env
    folder = repository_of(instance, project).path
    (folder / "hooks").mkdir()
    ran = folder / "ran"
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        (folder / "hooks" / name).write_text(f"#!/bin/sh\necho {name} >>{ran}\nexit 1\n")
        (folder / "hooks" / name).chmod(0o755)
    tree.git("fetch", "-q", chosen.url(project), "master")
    tree.git("reset", "-q", "--hard", "FETCH_HEAD")
    tree.commit(".gitattributes", "* filter=evil\n")
    tree.commit(".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = https://example.org/x\n')
    tree.git("push", "-q", chosen.url(project), "master")
    assert not ran.exists()
