"""Examples of load balancers that send all requests for one project to the same node."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.free_ports import free_port
from tests.server.process import ROOT, until

EXAMPLES = ROOT / "deploy" / "proxies"
_NODE = re.compile(r"192\.0\.2\.(\d):8080")


class _Node(ThreadingHTTPServer):
    """Server that answers every request with its own number."""

    def __init__(self, number: int) -> None:
        super().__init__(("127.0.0.1", 0), _Numbered)
        self.number = number


class _Numbered(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer with the number of the node."""
        assert isinstance(self.server, _Node)
        body = b"%d" % self.server.number
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def _node(number: int) -> Iterator[_Node]:
    with _Node(number) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def _nginx(folder: Path, port: int, text: str) -> list[str]:
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    server = f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://ingot; }} }}"
    configuration = folder / "nginx.conf"
    configuration.write_text(f"pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{text}\n{server}\n}}\n")
    return ["nginx", "-e", str(folder / "error.log"), "-c", str(configuration), "-g", "daemon off; user root;"]


def _haproxy(folder: Path, port: int, text: str) -> list[str]:
    configuration = folder / "haproxy.cfg"
    limits = "timeout connect 5s\ntimeout client 30s\ntimeout server 30s"
    front = f"frontend http\nbind 127.0.0.1:{port}\ndefault_backend ingot"
    configuration.write_text(f"defaults\nmode http\n{limits}\n{front}\n{text}")
    return ["haproxy", "-db", "-f", str(configuration)]


BALANCERS = {"nginx": ("nginx-nodes.conf", _nginx), "haproxy": ("haproxy-nodes.cfg", _haproxy)}


@pytest.mark.parametrize("name", sorted(BALANCERS))
def test_requests_for_a_project_go_to_one_node(name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    example, prepare = BALANCERS[name]
    with ExitStack() as stack:
        ports = {number: stack.enter_context(_node(number)).server_port for number in (1, 2, 3)}
        text = _NODE.sub(lambda match: f"127.0.0.1:{ports[int(match[1])]}", (EXAMPLES / example).read_text())
        port = free_port()
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(prepare(tmp_path, port, text), stdout=log, stderr=log)
        stack.callback(process.wait, 30)
        stack.callback(process.terminate)

        def node(path: str) -> str:
            assert process.poll() is None, (tmp_path / "log").read_text()
            try:
                return httpx.get(f"http://127.0.0.1:{port}{path}").text
            except httpx.TransportError:
                return ""

        until("the load balancer", lambda: node("/").isdigit())
        seen = set()
        for number in range(40):
            path = f"group/sub/project-{number}"
            by_path = {
                node(f"/{path}.git/info/refs?service=git-upload-pack"),
                node(f"/{path}.git/info/lfs/objects/batch"),
                node(f"/{path}/-/tree/master"),
            }
            by_id = {node(f"/api/v4/projects/{number}/{rest}") for rest in ("repository/tree", "merge_requests?page=2")}
            encoded = node(f"/api/v4/projects/{path.replace('/', '%2F')}/repository/tree")
            assert (len(by_path), len(by_id)) == (1, 1)
            assert name == "nginx" or {encoded} == by_path
            seen |= by_path
        assert seen == {"1", "2", "3"}
