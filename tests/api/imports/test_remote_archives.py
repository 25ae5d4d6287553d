"""Import of an archive that the server downloads."""

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.api.imports.conftest import ImportingInstance
from tests.factories import changed_settings


@contextmanager
def serving_archive(content: bytes) -> Iterator[str]:
    """Serve an archive on loopback; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/gzip")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            # The client may close the connection as soon as it knows the size.
            try:
                self.wfile.write(content)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/archive.tar.gz"
        finally:
            server.shutdown()
            serving.join()


def _exported(importing: ImportingInstance) -> bytes:
    """Return the archive of a project with 1.5 MB that cannot be compressed."""
    api, root = importing.api, importing.root
    created = api.post("/projects", root, name=importing.make.name("noisy"), initialize_with_readme=True)
    url = f"/projects/{created.json()['id']}"
    noise = base64.b64encode(os.urandom(1_500_000)).decode()
    file = {"branch": "master", "content": noise, "encoding": "base64", "commit_message": "Add noise"}
    assert api.post(f"{url}/repository/files/noise.bin", root, **file).status_code == 201
    assert api.post(f"{url}/export", root).status_code == 202
    importing.work()
    downloaded = api.get(f"{url}/export/download", root)
    assert downloaded.status_code == 200, downloaded.text
    return downloaded.content


def test_the_size_of_a_download_is_limited(importing: ImportingInstance) -> None:
    with serving_archive(_exported(importing)) as address:
        statuses = []
        for limit in (1, 2):
            with changed_settings(importing.make, max_import_remote_file_size=limit):
                path = importing.make.name("downloaded")
                begun = importing.api.post("/projects/remote-import", importing.root, url=address, path=path)
                assert begun.status_code == 201, begun.text
                importing.work()
            shown = importing.api.get(f"/projects/{begun.json()['id']}/import", importing.root).json()
            statuses.append(shown["import_status"])
    assert statuses == ["failed", "finished"]
