"""JUnit reports: the test report of a pipeline, and hostile reports."""

import io
from typing import Any

import pytest

from ingot.ci.artifacts.reports import junit
from ingot.ci.artifacts.reports.junit import parse_junit
from ingot.ci.artifacts.test_reports import suite_name
from tests.ci.artifacts.files import JUNIT, gzip_of, upload
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make
from tests.factories import make_project

BILLION_LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><testsuites><testsuite><testcase name="&c;"/></testsuite></testsuites>"""
EXTERNAL = b"""<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&a;"/></testsuite>"""


def _upload(api: Api, rows: PipelineRows, name: str, content: bytes) -> None:
    token, job = rows.start(name), rows.job(name)
    query = {"artifact_type": "junit", "artifact_format": "gzip"}
    assert upload(api, job.id, token, content, "junit.xml.gz", **query).status_code == 201
    rows.finish(name)


def _report(api: Api, make: Make, rows: PipelineRows) -> dict[str, Any]:
    return _read(api, make, f"{rows.project.url}/pipelines/{rows.id}/test_report")


def _read(api: Api, make: Make, path: str) -> dict[str, Any]:
    answer = api.get(path, make.root)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def test_upload_without_a_file_is_refused_with_an_explanation(make: Make, api: Api) -> None:
    rows = PipelineRows(make, "unit 0")
    rows.process()
    headers, url = {"JOB-TOKEN": rows.start("unit")}, f"/jobs/{rows.job('unit').id}/artifacts?artifact_type=junit"
    for sent in ({"files": {"report": ("junit.xml.gz", gzip_of(JUNIT))}}, {"content": gzip_of(JUNIT)}):
        answer = api.request("POST", url, headers=headers, **sent)
        assert answer.status_code == 400
        assert "Send it as the field 'file' of a multipart/form-data body." in answer.json()["message"]


def test_report_of_a_pipeline(make: Make, api: Api) -> None:
    rows = PipelineRows(make, "unit 0", "lint 0", "broken 0")
    rows.process()
    assert _report(api, make, rows)["total_count"] == 0
    _upload(api, rows, "unit", gzip_of(JUNIT, b'<testsuite><testcase name="more" time="2"/></testsuite>'))
    _upload(api, rows, "broken", gzip_of(b"<testsuites><testsuite>"))
    report = _report(api, make, rows)
    totals = {key: value for key, value in report.items() if key != "test_suites"}
    assert totals == {
        "total_time": 4.0,
        "total_count": 5,
        "success_count": 2,
        "failed_count": 1,
        "skipped_count": 1,
        "error_count": 1,
    }
    unit, broken = report["test_suites"]
    assert [case["name"] for case in unit["test_cases"]] == ["crashes", "breaks", "more", "works", "later"]
    assert unit["test_cases"][1] == {
        "status": "failed",
        "name": "breaks",
        "classname": "a.B",
        "file": None,
        "execution_time": 0.5,
        "system_output": "expected 1\n\nSystem Out:\n\nprinted",
        "stack_trace": None,
        "recent_failures": None,
    }
    assert unit["test_cases"][4]["system_output"] == "not now"
    assert broken["suite_error"].startswith("JUnit XML parsing failed: no element found")
    assert (broken["total_count"], broken["test_cases"]) == (0, [])
    summary = _read(api, make, f"{rows.project.url}/pipelines/{rows.id}/test_report_summary")
    assert summary["total"] == {
        "time": 4.0,
        "count": 5,
        "success": 2,
        "failed": 1,
        "skipped": 1,
        "error": 1,
        "suite_error": broken["suite_error"],
    }
    assert [(suite["name"], suite["build_ids"]) for suite in summary["test_suites"]] == [
        ("unit", [rows.job("unit").id]),
        ("broken", [rows.job("broken").id]),
    ]


@pytest.mark.parametrize(
    ("job", "suite"), [("unit 1/2", "unit"), ("unit: [a, b]", "unit: [a, b]"), ("unit 2", "unit 2"), ("1/2", "1/2")]
)
def test_names_of_suites(job: str, suite: str) -> None:
    """Jobs of ``parallel`` share a suite."""
    assert suite_name(job) == suite


def test_permission_to_read_reports(make: Make, api: Api) -> None:
    owner, guest, stranger = make.user(), make.user(), make.user()
    project = make_project(make, owner, members={guest: 10}, public_jobs=False)
    rows = PipelineRows(make, "unit 0", project=project)
    for kind in ("test_report", "test_report_summary"):
        path = f"{project.url}/pipelines/{rows.id}/{kind}"
        assert [api.get(path, user).status_code for user in (owner, guest, stranger, None)] == [200, 403, 404, 401]
        assert api.get(f"{project.url}/pipelines/999999999/{kind}", owner).status_code == 404


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BILLION_LAUGHS, "entity declarations are not allowed"),
        (EXTERNAL, "entity declarations are not allowed"),
        (b"<a>" * 100, "elements are nested too deeply"),
        (b"", "no element found"),
        (b"\0\1\2", "not well-formed"),
    ],
)
def test_hostile_reports(content: bytes, message: str) -> None:
    report = parse_junit(io.BytesIO(gzip_of(content)), "gzip")
    assert report.error is not None
    assert message in report.error
    assert report.cases == ()


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "MAX_TEST_CASES", 3)
    monkeypatch.setattr(junit, "MAX_BYTES", 10_000)
    monkeypatch.setattr(junit, "MAX_OUTPUT_BYTES", 100)
    many = b"<testsuite>" + b"".join(b'<testcase name="%d"/>' % n for n in range(5)) + b"</testsuite>"
    assert parse_junit(io.BytesIO(many), "raw").error == (
        "JUnit data parsing failed: number of test cases exceeded the limit of 3"
    )
    bomb = gzip_of(b"<testsuite>" + b" " * 10_000_000 + b"</testsuite>")
    assert "larger than the 10000 bytes" in str(parse_junit(io.BytesIO(bomb), "gzip").error)
    output = b"<testsuite><testcase><failure>" + b"x\n" * 1000 + b"</failure></testcase></testsuite>"
    [case] = parse_junit(io.BytesIO(output), "raw").cases
    assert len(case.output or "") <= 100
    assert parse_junit(io.BytesIO(b"text"), "gzip").error == "JUnit data parsing failed: the file is not gzip"
    truncated = parse_junit(io.BytesIO(gzip_of(JUNIT)[:-20]), "gzip")
    assert truncated.error == "JUnit data parsing failed: the file is incomplete"


def test_times_and_names() -> None:
    content = b"""<testsuites><testsuite name="s"><testcase time="1,234.5"/><testcase name="n" time="nan"/>
    <testcase name="i" time="inf"/><testcase name="bad" time="soon"/></testsuite></testsuites>"""
    cases = parse_junit(io.BytesIO(content), "raw").cases
    assert [(case.name, case.time) for case in cases] == [("(No name)", 1234.5), ("n", 0.0), ("i", 0.0), ("bad", 0.0)]
