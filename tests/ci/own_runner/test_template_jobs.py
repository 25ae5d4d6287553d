"""CI templates whose tools are on many machines, run by the built-in runner without access to the network."""

import shutil
from collections.abc import Iterator

import pytest

from tests.ci.own_runner.flow_server import BINARY, FlowServer, flow_server

pytestmark = pytest.mark.skipif(bool(BINARY), reason="the templates do not depend on the runner")
OFFLINE = "variables: {CARGO_NET_OFFLINE: 'true', npm_config_offline: 'true'}\n"
PACKAGE = '{"name": "sample", "version": "1.0.0", "scripts": {"test": "node --check index.js"}}'
LOCK = '{"name": "sample", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "sample"}}}'
RUST_FILES = {
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "sample"\nversion = "0.1.0"\n',
    "src/main.rs": 'fn main() {\n    println!("hello");\n}\n',
}
CASES = {
    "Bash": ("bash", {"a.sh": "echo a\n", "tests/run.sh": "bash a.sh\n"}, "shellcheck: {rules: [{when: never}]}\n"),
    "Pages-Plain": ("cp", {"index.html": "<p>x</p>", "public/old.html": "x"}, ""),
    "Pages/HTML": ("cp", {"index.html": "<p>x</p>", "sub/.hidden": "x", "public/old.html": "x"}, ""),
    "Nodejs": ("npm", {"package.json": PACKAGE, "package-lock.json": LOCK, "index.js": "1;\n"}, OFFLINE),
    # Its first job would ask another server for components.
    "Rust": ("cargo", RUST_FILES, f"{OFFLINE}format: {{rules: [{{when: never}}]}}\n"),
}


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowServer]:
    """Yield a server with a runner."""
    with flow_server(tmp_path_factory.mktemp("flow")) as server:
        yield server


@pytest.mark.parametrize("name", CASES)
def test_jobs_of_a_template_succeed(flow: FlowServer, name: str) -> None:
    tool, files, changes = CASES[name]
    if shutil.which(tool) is None:
        pytest.skip(f"NO TOOL: {tool} is missing")
    url = flow.project(name.replace("/", "-").lower(), {"README.md": "x"})
    config = f"include: [{{template: {name}.gitlab-ci.yml}}]\n{changes}"
    flow.commit(url, {**files, ".gitlab-ci.yml": config})
    first = flow.newest_pipeline(url)
    for pipeline in (
        first,
        flow.call("POST", f"{url}/pipeline", 201, ref="main"),
    ):  # Also with what the first run has left in the directory.
        flow.wait_for_pipeline(url, pipeline["id"])
        jobs = flow.jobs(url, pipeline["id"])
        failed = {job["name"]: flow.trace(url, job) for job in jobs.values() if job["status"] != "success"}
        assert jobs and not failed, failed
