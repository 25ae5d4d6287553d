"""Uploaded files, as served to browsers and API clients."""

import socket
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest

from ingot.projects.uploads.files import upload_files
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.web.browser import without_address

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
SCRIPT = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


class UploadSetup:
    """Project with an upload, and its callers."""

    def __init__(self, instance: Instance, api: Api, make: Make, visibility: str = "private") -> None:
        self.instance, self.api = instance, api
        self.owner = make.user()
        made = api.post("/projects", self.owner, name=make.name("files"), visibility=visibility)
        assert made.status_code == 201, made.text
        self.project: dict[str, Any] = made.json()

    def upload(self, name: str, content: bytes = PNG) -> dict[str, Any]:
        """Upload a file."""
        path = f"/projects/{self.project['id']}/uploads"
        answer = self.api.request("POST", path, self.owner, files={"file": (name, content)})
        assert answer.status_code == 201, answer.text
        view: dict[str, Any] = answer.json()
        return view

    def get(self, path: str, who: User | None = None, **options: Any) -> httpx.Response:
        """Request a path."""
        headers = {"PRIVATE-TOKEN": who.token} if who else {}
        return httpx.get(self.instance.url + path, headers=headers, **options)


@pytest.fixture
def setup(instance: Instance, api: Api, make: Make) -> UploadSetup:
    """Return a private project."""
    return UploadSetup(instance, api, make)


def sign_in(browser: httpx.Client, person: User) -> None:
    """Sign a user in."""
    page = browser.get("/users/sign_in").text
    token = page.split('name="authenticity_token" value="')[1].split('"')[0]
    form = {"user[login]": person.username, "user[password]": person.password, "authenticity_token": token}
    assert browser.post("/users/sign_in", data=form).status_code == 302


def test_a_private_file_requires_access_to_the_project(setup: UploadSetup, instance: Instance, make: Make) -> None:
    """Attack: the secret alone is not enough; other users get the same response as for a missing file."""
    view = setup.upload("dk.png")
    path, stranger = view["full_path"], make.user(password="a long password")
    assert setup.get(path, setup.owner).content == PNG
    missing = setup.get(path.replace(".png", ".gif"))
    for who in (None, stranger):
        refused = setup.get(path, who)
        assert (refused.status_code, without_address(refused.text)) == (404, without_address(missing.text))
    assert setup.get(path, setup.owner.with_token("nonsense")).status_code == 401
    added = setup.api.post(
        f"/projects/{setup.project['id']}/members", setup.owner, user_id=stranger.id, access_level=10
    )
    assert added.status_code == 201, added.text
    with httpx.Client(base_url=instance.url) as browser:
        sign_in(browser, stranger)
        assert browser.get(path).content == PNG
    assert setup.get(path, stranger).content == PNG
    assert httpx.get(f"{instance.url}{path}", headers={"Authorization": f"Bearer {stranger.token}"}).status_code == 200
    assert setup.get(path, params={"private_token": stranger.token}).status_code == 200
    gone = setup.api.delete(f"/projects/{setup.project['id']}/members/{stranger.id}", setup.owner)
    assert gone.status_code in (200, 204)
    assert setup.get(path, stranger).status_code == 404, "it is asked each time"


def test_a_token_requires_a_sufficient_scope(setup: UploadSetup, make: Make) -> None:
    """Attack: a token with the read_user scope reads no files."""
    path = setup.upload("a.txt", b"hello")["full_path"]
    statuses = {
        scope: setup.get(path, setup.owner.with_token(make.token(setup.owner.id, scope))).status_code
        for scope in ("api", "read_api", "read_user", "read_repository")
    }
    assert statuses == {"api": 200, "read_api": 200, "read_user": 403, "read_repository": 403}


def test_a_public_file_is_readable_by_all(instance: Instance, api: Api, make: Make) -> None:
    """Until the project becomes private."""
    setup = UploadSetup(instance, api, make, "public")
    path = setup.upload("dk.png")["full_path"]
    assert setup.get(path).content == PNG
    assert api.put(f"/projects/{setup.project['id']}", setup.owner, visibility="private").status_code == 200
    assert setup.get(path).status_code == 404
    assert setup.get(path, setup.owner).status_code == 200


INLINE = [
    ("a.png", "image/png"),
    ("a.JPG", "image/jpeg"),
    ("a.jpeg", "image/jpeg"),
    ("a.gif", "image/gif"),
    ("a.webp", "image/webp"),
    ("a.bmp", "image/bmp"),
    ("a.ico", "image/x-icon"),
    ("a.txt", "text/plain; charset=utf-8"),
]
ATTACHED = ["a.svg", "a.html", "a.xhtml", "a.xml", "a.pdf", "a.js", "a.swf", "a", "a.png.html", "a.mht", "a.svgz"]


@pytest.mark.parametrize(("name", "kind"), [*INLINE, *((name, "application/octet-stream") for name in ATTACHED)])
def test_served_files_run_nothing(setup: UploadSetup, name: str, kind: str) -> None:
    """Attack: an SVG with a script, or an HTML page that reads the visitor's CSRF token."""
    view = setup.upload(name, SCRIPT)
    answer = setup.get(view["full_path"], setup.owner)
    assert (answer.status_code, answer.content) == (200, SCRIPT)
    assert answer.headers["content-type"] == kind
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["content-disposition"].startswith("attachment; " if name in ATTACHED else "inline; ")
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["content-length"] == str(len(SCRIPT))
    head = httpx.head(setup.instance.url + view["full_path"], headers={"PRIVATE-TOKEN": setup.owner.token})
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(SCRIPT)), b"")


def test_names_in_any_language_are_served(setup: UploadSetup) -> None:
    """Encoded as by browsers; the header names the file for all of them."""
    view = setup.upload("ünï 漢字.pdf")
    path = quote(view["full_path"])
    answer = setup.get(path, setup.owner)
    assert answer.content == PNG
    expected = "attachment; filename=\"_n____.pdf\"; filename*=UTF-8''%C3%BCn%C3%AF_%E6%BC%A2%E5%AD%97.pdf"
    assert answer.headers["content-disposition"] == expected


def test_newer_urls_are_supported(setup: UploadSetup) -> None:
    """By the project's id, and by its path in one segment."""
    view = setup.upload("dk.png")
    encoded = setup.project["path_with_namespace"].replace("/", "%2F")
    for name in (setup.project["id"], encoded):
        assert setup.get(f"/-/project/{name}{view['url']}", setup.owner).content == PNG
        assert setup.get(f"/-/project/{name}{view['url']}").status_code == 404


def test_nested_groups_and_old_paths(instance: Instance, api: Api, make: Make) -> None:
    """Paths of any depth, and the path before a rename."""
    setup = UploadSetup(instance, api, make)
    parent = make.name("outer")
    outer = api.post("/groups", make.root, name=parent, path=parent).json()
    inner = api.post("/groups", make.root, name="inner", path="inner", parent_id=outer["id"]).json()
    made = api.post("/projects", make.root, name="deep", namespace_id=inner["id"])
    assert made.status_code == 201, made.text
    setup.project, setup.owner = made.json(), make.root
    view = setup.upload("dk.png")
    assert view["full_path"].startswith(f"/{parent}/inner/deep/uploads/")
    assert setup.get(view["full_path"], make.root).content == PNG
    assert api.put(f"/projects/{made.json()['id']}", make.root, path="deeper").status_code == 200
    assert setup.get(view["full_path"], make.root).content == PNG
    assert setup.get(view["full_path"].replace("/deep/", "/deeper/"), make.root).content == PNG
    assert setup.get(view["full_path"]).status_code == 404


def test_another_project_does_not_serve_it(instance: Instance, api: Api, make: Make) -> None:
    """Attack: use the secret with another, public project."""
    setup, other = UploadSetup(instance, api, make), UploadSetup(instance, api, make, "public")
    view = setup.upload("dk.png")
    assert setup.get(f"/{other.project['path_with_namespace']}{view['url']}", other.owner).status_code == 404
    assert setup.get(f"/-/project/{other.project['id']}{view['url']}", other.owner).status_code == 404


TRAVERSALS = [
    "..%2F..%2F..%2F..%2Fsecrets%2Finstance.key",
    "..%252F..%252F..%252F..%252Fsecrets%252Finstance.key",
    "%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fsecrets%2finstance.key",
    "../../../../secrets/instance.key",
    "..\\..\\..\\..\\secrets\\instance.key",
    "..%5C..%5Csecrets%5Cinstance.key",
    "%2Fetc%2Fpasswd",
    "%252Fetc%252Fpasswd",
    "dk.png%00.txt",
    "dk.png%2500",
    "%64k.png%2F",
    "..;/dk.png",
    ".",
    "..",
    "%ff",
    "",
]


@pytest.mark.parametrize("name", TRAVERSALS)
def test_path_traversal_is_rejected(setup: UploadSetup, name: str) -> None:
    """Attack: raw, encoded, and encoded twice; sent unchanged, because clients normalize paths."""
    view = setup.upload("dk.png")
    folder = view["full_path"].removesuffix("dk.png")
    for start in (folder, f"/-/project/{setup.project['id']}{view['url'].removesuffix('dk.png')}"):
        status, body = raw_get(setup.instance, start + name, setup.owner)
        assert status == 404
        assert PNG not in body
        secret = (setup.instance.settings.data / "secrets" / "instance.key").read_bytes()
        assert secret not in body
        assert b"root:" not in body
    assert raw_get(setup.instance, folder + "%64k.png", setup.owner)[0] == 200, "a name may be encoded once"


@pytest.mark.parametrize("secret", ["..%2F..", "%2e%2e", "A" * 32, "0" * 31, "0" * 32, "0" * 33])
def test_only_the_correct_secret_is_accepted(setup: UploadSetup, secret: str) -> None:
    """Attack: path traversal in the position of the secret."""
    setup.upload("dk.png")
    project = setup.project
    for start in (f"/{project['path_with_namespace']}", f"/-/project/{project['id']}"):
        assert raw_get(setup.instance, f"{start}/uploads/{secret}/dk.png", setup.owner)[0] == 404


def raw_get(instance: Instance, path: str, who: User) -> tuple[int, bytes]:
    """Send a path unchanged."""
    parts = urlsplit(instance.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60) as connection:
        lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", f"PRIVATE-TOKEN: {who.token}", "Connection: close"]
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def test_a_large_file_is_complete_and_readers_may_disconnect(setup: UploadSetup) -> None:
    """It is sent in chunks; after a disconnect the file is closed."""
    content = bytes(range(256)) * 4096 * 24
    path = setup.upload("large.bin", content)["full_path"]
    assert setup.get(path, setup.owner).content == content
    headers = {"PRIVATE-TOKEN": setup.owner.token}
    with httpx.stream("GET", setup.instance.url + path, headers=headers) as answer:
        next(answer.iter_raw(1000))
    assert setup.get(path, setup.owner).status_code == 200


def test_a_file_missing_on_disk_gets_404(setup: UploadSetup) -> None:
    """As after a manual cleanup."""
    view = setup.upload("dk.png")
    files = upload_files(setup.instance.settings)
    files.remove_all(setup.project["id"])
    assert setup.get(view["full_path"], setup.owner).status_code == 404


def test_only_reads_are_supported(setup: UploadSetup) -> None:
    """Other methods are rejected."""
    path = setup.upload("dk.png")["full_path"]
    for method in ("POST", "PUT", "DELETE"):
        answer = httpx.request(method, setup.instance.url + path, headers={"PRIVATE-TOKEN": setup.owner.token})
        assert answer.status_code == 405


def test_a_project_can_show_images_to_everyone(setup: UploadSetup, api: Api) -> None:
    image, text = setup.upload("dk.png")["full_path"], setup.upload("plan.txt")["full_path"]
    url = f"/projects/{setup.project['id']}"
    assert api.put(url, setup.owner, enforce_auth_checks_on_uploads=False).status_code == 200
    assert setup.get(image).content == PNG
    assert setup.get(text).status_code == 404, "Only images are shown."
    assert setup.get(image.replace(image.split("/")[-2], "0" * 32)).status_code == 404
    assert api.put(url, setup.owner, enforce_auth_checks_on_uploads=True).status_code == 200
    assert setup.get(image).status_code == 404
