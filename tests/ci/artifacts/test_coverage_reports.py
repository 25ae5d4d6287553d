"""Coverage reports of merge requests, and hostile reports."""

import io

import pytest

from ingot.ci.artifacts.reports import cobertura
from ingot.ci.artifacts.reports.cobertura import parse_cobertura
from ingot.ci.artifacts.reports.content import InvalidReport
from ingot.core.access.levels import Level
from tests.ci.artifacts.files import gzip_of, upload
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Api, Make
from tests.factories import make_project

FILE = "unit: {script: x, artifacts: {reports: {coverage_report: {coverage_format: cobertura, path: c.xml}}}}\n"
REPORT = """<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage><sources><source>/builds/%s/src</source></sources><packages><package><classes>
<class filename="a.py"><methods><method><lines><line number="1" hits="0"/></lines></method></methods>
<lines><line number="1" hits="2"/><line number="2" hits="0"/></lines></class>
<class filename="other.py"><lines><line number="7" hits="1"/><line number="8" hits="0"/></lines></class>
</classes></package></packages></coverage>"""


def test_lines_of_changed_files(api: Api, make: Make) -> None:
    guest = make.user()
    project = make_project(make, visibility="private", members={guest: int(Level.GUEST)})
    commit_files(make, project, {".gitlab-ci.yml": FILE, "src/other.py": "x"})
    commit_files(make, project, {"src/a.py": "1\n2\n"}, branch="topic", start_branch="main")
    sent = {"source_branch": "topic", "target_branch": "main", "title": "New"}
    iid = api.post(f"{project.url}/merge_requests", make.root, **sent).json()["iid"]
    address = f"{project.url}/merge_requests/{iid}/coverage_reports"
    assert api.get(address, make.root).json() == {"files": {}, "covered_lines": 0, "total_lines": 0, "coverage": None}
    runner = project_runner(make, project.id)
    query = {"artifact_type": "cobertura", "artifact_format": "gzip"}
    while (job := runner.take()) is not None:
        content = gzip_of((REPORT % project.path).encode())
        assert upload(api, job.id, job.token, content, "cobertura.xml.gz", **query).status_code == 201
        assert job.finish().status_code == 200
    assert api.get(address, make.root).json() == {
        "files": {"src/a.py": {"1": 2, "2": 0}},
        "covered_lines": 2,
        "total_lines": 4,
        "coverage": 50.0,
    }
    assert api.get(address, guest).status_code in (403, 404)


@pytest.mark.parametrize(
    "content",
    [
        b"<coverage>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><coverage/>',
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><coverage><source>&a;</source></coverage>',
        b"<a>" * 100,
        b'<class filename="x"><line number="1" hits="1"/><line number="2" hits="1"/></class>',
    ],
)
def test_hostile_reports(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(cobertura, "MAX_LINES", 1)
    with pytest.raises(InvalidReport):
        parse_cobertura(io.BytesIO(gzip_of(content)), "gzip")


def test_strange_numbers_are_ignored() -> None:
    lines = "".join(f'<line number="{number}" hits="{hits}"/>' for number, hits in (("x", 1), (1, "-1"), (2, "9" * 40)))
    report = parse_cobertura(io.BytesIO(f'<c><class filename="f">{lines}</class></c>'.encode()), "raw")
    assert list(report.files["f"]) == [2]
