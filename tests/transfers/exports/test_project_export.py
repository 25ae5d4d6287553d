"""Tests of the export of a project."""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from ingot.core.access.levels import Level
from ingot.core.outgoing.guard import SsrfGuard
from ingot.import_export.exports.params import UploadTarget
from ingot.import_export.exports.upload import upload_archive
from tests.client import Make
from tests.conftest import Instance
from tests.factories import add_members, make_group, make_project
from tests.transfers.exports.archives import files_of, rows_of
from tests.transfers.exports.sample_project import SampleProject


def test_export_contains_everything_but_secrets(instance: Instance, make: Make, sample: SampleProject) -> None:
    """An archive has GitLab's files and columns; secrets and addresses of users are left out."""
    url, api = sample.url, make.api
    assert api.get(f"{url}/export", sample.owner).json()["export_status"] == "none"
    assert api.get(f"{url}/export/download", sample.owner).status_code == 404
    started = api.post(f"{url}/export", sample.owner, description="Another description")
    assert (started.status_code, started.json()) == (202, {"message": "202 Accepted"})
    assert api.get(f"{url}/export", sample.owner).json()["export_status"] == "queued"
    instance.work()
    shown = api.get(f"{url}/export", sample.owner).json()
    assert shown["export_status"] == "finished"
    assert shown["_links"]["api_url"].endswith(f"/api/v4/projects/{sample.project.id}/export/download")
    answer = api.get(f"{url}/export/download", sample.owner)
    assert answer.headers["content-type"] == "application/gzip"
    assert "_export.tar.gz" in answer.headers["content-disposition"]
    files = files_of(answer.content)
    assert files["VERSION"] == b"0.2.4"
    assert json.loads(files["tree/project.json"])["description"] == "Another description"
    assert {"project.bundle", "project.wiki.bundle", "lfs-objects.json", "GITLAB_VERSION"} <= files.keys()
    assert b"attached text" in files.values()
    assert [issue["iid"] for issue in rows_of(files, "issues")] == [1, 2, 4, 5, 6]
    whole = b"".join(content for name, content in files.items() if name.startswith("tree/"))
    for secret in (b"a-hook-secret", b"a-variable-secret", sample.owner.email.encode()):
        assert secret not in whole


def test_only_maintainers_export(instance: Instance, make: Make) -> None:
    """Developers and strangers may neither start, see nor download an export; a demoted maintainer's job fails."""
    owner, maintainer, developer, stranger = make.user(), make.user(), make.user(), make.user()
    project = make_project(make, owner, members={maintainer: Level.MASTER, developer: Level.DEVELOPER})
    for path in ("export", "export_relations"):
        assert make.api.post(f"{project.url}/{path}", maintainer).status_code == 202
    member = f"{project.url}/members/{maintainer.id}"
    assert make.api.put(member, owner, access_level=int(Level.DEVELOPER)).status_code == 200
    instance.work()
    assert make.api.put(member, owner, access_level=int(Level.MASTER)).status_code == 200
    assert make.api.get(f"{project.url}/export", maintainer).json()["export_status"] == "failed"
    statuses = make.api.get(f"{project.url}/export_relations/status", maintainer).json()
    assert {each["status"] for each in statuses} == {-1}
    for path in ("export", "export/download", "export_relations/status", "export_relations/download?relation=labels"):
        for person, status in ((developer, 403), (stranger, 404), (None, 401)):
            assert make.api.get(f"{project.url}/{path}", person).status_code == status, path
    for path in ("export", "export_relations"):
        for person, status in ((developer, 403), (stranger, 404), (None, 401)):
            assert make.api.post(f"{project.url}/{path}", person).status_code == status, path


def test_regeneration_and_expiry(instance: Instance, make: Make) -> None:
    """A new export replaces the file of the last one; after a week both row and file are deleted."""
    owner = make.user()
    project = make_project(make, owner)
    for status in ("queued", "regeneration_in_progress"):
        assert make.api.post(f"{project.url}/export", owner).status_code == 202
        assert make.api.get(f"{project.url}/export", owner).json()["export_status"] == status
        instance.work()
    folder = instance.settings.data / "exports"
    stored = [path for path in folder.rglob("*") if path.is_file()]
    tag = make.api.get(f"{project.url}/export/download", owner).headers["etag"].strip('"')
    assert [path for path in stored if path.relative_to(folder).as_posix() == tag]
    assert not list((folder / "incoming").iterdir())
    refused = make.api.post(f"{project.url}/export", owner, upload={"url": "http://127.0.0.1/up"})
    assert refused.status_code == 400
    assert make.api.post(f"{project.url}/export", owner, upload={"http_method": "PUT"}).status_code == 400


def test_relations_of_projects_and_groups(instance: Instance, make: Make, sample: SampleProject) -> None:
    """Each relation has a status and a file of its own, also as a batch."""
    for url in (sample.url, sample.group.url):
        assert make.api.get(f"{url}/export_relations/status", sample.owner).json() == []
        assert make.api.post(f"{url}/export_relations", sample.owner, batched=True).status_code == 202
        instance.work()
        statuses = make.api.get(f"{url}/export_relations/status", sample.owner).json()
        assert {each["status"] for each in statuses} == {1}
        assert {"labels", "milestones", "boards", "self"} <= {each["relation"] for each in statuses}
        one = make.api.get(f"{url}/export_relations/status", sample.owner, relation="labels").json()
        assert (one["batches_count"], one["batches"][0]["batch_number"]) == (1, 1)
        download = f"{url}/export_relations/download"
        file = make.api.get(download, sample.owner, relation="labels", batched=True, batch_number=1)
        titles = [json.loads(line)["title"] for line in gzip.decompress(file.content).splitlines()]
        assert titles == (["bug", "feature"] if url == sample.url else ["group label"])
        assert make.api.get(download, sample.owner, relation="labels").status_code == 404
        assert make.api.get(download, sample.owner, relation="nothing").status_code == 404
        assert make.api.get(f"{url}/export_relations/status", sample.owner, relation="nothing").status_code == 404


def test_group_export(instance: Instance, make: Make) -> None:
    """Owners of a group export it with its subgroups; maintainers may not."""
    owner, maintainer = make.user(), make.user()
    group = make_group(make, owner)
    child = make_group(make, owner, parent=group, description="Below")
    add_members(make, group, {maintainer: Level.MASTER})
    make.api.post(f"{child.url}/labels", owner, name="below", color="#112233")
    assert make.api.post(f"{group.url}/export", maintainer).status_code == 403
    assert make.api.get(f"{group.url}/export/download", maintainer).status_code == 403
    assert make.api.get(f"{group.url}/export", maintainer).status_code == 403
    assert make.api.get(f"{group.url}/export", owner).json()["export_status"] == "none"
    assert make.api.get(f"{group.url}/export/download", owner).status_code == 404
    assert make.api.post(f"{group.url}/export", owner).status_code == 202
    assert make.api.get(f"{group.url}/export/download", owner).status_code == 404
    instance.work()
    files = files_of(make.api.get(f"{group.url}/export/download", owner).content)
    assert files["tree/groups/_all.ndjson"] == f"{group.id}\n{child.id}\n".encode()
    assert json.loads(files[f"tree/groups/{child.id}.json"])["parent_id"] == group.id
    assert json.loads(files[f"tree/groups/{child.id}/labels.ndjson"])["title"] == "below"
    members = [json.loads(line) for line in files[f"tree/groups/{group.id}/members.ndjson"].splitlines()]
    assert {member["user"]["username"] for member in members} == {owner.username, maintainer.username}


def test_upload_to_another_server() -> None:
    """An archive is sent with its length and type; refusals and unreachable servers are reported."""
    received: list[tuple[str, str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, self.headers["Content-Type"], content))
            self.send_response(200 if self.path == "/bucket?signature=1" else 403)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        base, content = f"http://127.0.0.1:{server.server_address[1]}", bytes(300_000)

        def upload(path: str, guard: SsrfGuard) -> str | None:
            return upload_archive(
                UploadTarget(url=base + path), guard, len(content), lambda start, stop: iter([content[start:stop]])
            )

        assert upload("/bucket?signature=1", SsrfGuard(allow_local=True)) is None
        assert upload("/other", SsrfGuard(allow_local=True)) == "The upload failed: The server answered with status 403"
        assert (upload("/bucket", SsrfGuard()) or "").startswith("The upload failed: ")
        server.shutdown()
        thread.join()
    assert received[0] == ("/bucket?signature=1", "application/gzip", content)
    assert len(received) == 2
