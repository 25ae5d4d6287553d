"""Artifacts, dependencies and caches of jobs with a prepared server."""

import gzip
import io
import stat
import zipfile
from pathlib import Path

import pytest

from ingot.runner.archives import UnsafeArchive, extract_zip
from ingot.runner.patterns import matching_files
from ingot.runner.secret_mask import SecretMask
from ingot.runner.worker import RunnerWorker
from tests.ci.own_runner.conftest import AddJob
from tests.ci.own_runner.protocol_server import RecordedJob


def _part(body: bytes) -> tuple[str, bytes]:
    """Return file name and content of the only part of a multipart body."""
    head, _, rest = body.partition(b"\r\n\r\n")
    boundary = head.partition(b"\r\n")[0]
    return head.decode().partition('filename="')[2].partition('"')[0], rest.removesuffix(b"\r\n" + boundary + b"--\r\n")


def _archive(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_artifacts_are_uploaded(runner: RunnerWorker, add_job: AddJob) -> None:
    """The archive has the permissions and links of files; a report is compressed."""
    job = add_job(
        [
            "mkdir -p build/deep && echo x > build/deep/x.txt && echo y > build/y.log && echo z > build/z.txt",
            "chmod 755 build/z.txt && ln -s z.txt build/link",
            "echo '<testsuite/>' > report.xml",
        ],
        artifacts=[
            {
                "name": "$NAME",
                "paths": ["build/", "missing/*.txt"],
                "exclude": ["build/**/*.log"],
                "when": "on_success",
                "expire_in": "1 week",
                "artifact_type": "archive",
                "artifact_format": "zip",
            },
            {
                "name": "junit.xml",
                "paths": ["report*.xml"],
                "when": "always",
                "artifact_type": "junit",
                "artifact_format": "gzip",
            },
            {"paths": ["build"], "when": "on_failure"},
        ],
        variables=[{"key": "NAME", "value": "output of a/job"}],
    )
    runner.run_once()
    assert job.final["state"] == "success", job.text
    (archive_query, archive_body), (report_query, report_body) = job.uploads
    assert archive_query == {"artifact_type": "archive", "artifact_format": "zip", "expire_in": "1+week"}
    filename, content = _part(archive_body)
    assert filename == "output of a-job.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == ["build/deep/x.txt", "build/link", "build/z.txt"]
        assert stat.S_IMODE(archive.getinfo("build/z.txt").external_attr >> 16) == 0o755
        assert stat.S_ISLNK(archive.getinfo("build/link").external_attr >> 16)
    assert report_query == {"artifact_type": "junit", "artifact_format": "gzip"}
    filename, content = _part(report_body)
    assert (filename, gzip.decompress(content)) == ("junit.xml.gz", b"<testsuite/>\n")
    assert "missing/*.txt: no matching files" in job.text


def test_untracked_files_are_artifacts(runner: RunnerWorker, add_job: AddJob) -> None:
    """Ignored files are included."""
    job = add_job(["echo new > new.txt; echo '*.o' > .git/info/exclude; touch a.o"], artifacts=[{"untracked": True}])
    runner.run_once()
    with zipfile.ZipFile(io.BytesIO(_part(job.uploads[0][1])[1])) as archive:
        assert archive.namelist() == ["a.o", "new.txt"]


@pytest.mark.parametrize(("statuses", "state"), [([503, 201], "success"), ([413], "failed"), ([403], "failed")])
def test_refused_artifacts_fail_the_job(runner: RunnerWorker, add_job: AddJob, statuses: list[int], state: str) -> None:
    """A temporary failure is retried."""
    job = add_job(["echo x > x"], artifacts=[{"paths": ["x"]}])
    job.upload_statuses = statuses
    runner.run_once()
    assert job.final["state"] == state


def test_dependencies_are_extracted(runner: RunnerWorker, add_job: AddJob) -> None:
    """A missing archive fails the job; a job without artifacts is not asked for them."""
    earlier: RecordedJob = add_job(["true"])
    earlier.archive = _archive(**{"out/file.txt": "from earlier"})
    runner.run_once()
    dependency = {"id": earlier.payload["id"], "token": "other-token", "name": "earlier"}
    file = {"filename": "artifacts.zip", "size": 10}
    job = add_job(["cat out/file.txt"], dependencies=[{**dependency, "artifacts_file": file}, {**dependency, "id": 99}])
    runner.run_once()
    assert "from earlier" in job.text and job.final["state"] == "success"
    earlier.archive = None
    job = add_job(["true"], dependencies=[{**dependency, "artifacts_file": file}])
    runner.run_once()
    assert job.final["state"] == "failed" and "404" in job.text


def test_caches_are_shared_by_later_jobs(runner: RunnerWorker, add_job: AddJob, tmp_path: Path) -> None:
    """Key, policy, fallback keys and the condition are respected; a key cannot leave the directory."""

    def run(script: str, **cache: object) -> str:
        job = add_job([script], cache=[{"paths": ["cached/"], "policy": "pull-push", **cache}])
        runner.run_once()
        return "success" if job.final["state"] == "success" else job.text

    assert run("mkdir cached; echo one > cached/file", key="$CI_CONCURRENT_ID/../../x") == "success"
    assert run("grep one cached/file; echo two > cached/file", key="0/../../x", policy="pull") == "success"
    assert run("grep one cached/file", key="other", fallback_keys=["none", "0/../../x"]) == "success"
    assert run("test ! -e cached", key="0/../../x", policy="push") == "success"
    assert "exit code" in run("mkdir -p cached; echo bad > cached/file; false", key="failing")
    assert run("test ! -e cached/file", key="failing") == "success"
    assert "exit code" in run("mkdir -p cached; echo kept > cached/file; false", key="failed", when="on_failure")
    assert run("grep kept cached/file", key="failed", policy="pull") == "success"
    assert {path.parent.name for path in (tmp_path / "work" / "cache").rglob("*.zip")} == {"project"}


@pytest.mark.parametrize("name", [".git/hooks/post-checkout", "sub/.GIT/config", "folder/config"])
def test_archives_cannot_change_the_repository(tmp_path: Path, name: str) -> None:
    """Neither directly nor through a link to its folder."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "folder").symlink_to(".git")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr(name, "run me")
    with pytest.raises(UnsafeArchive):
        extract_zip(tmp_path / "archive.zip", tmp_path)
    assert list((tmp_path / ".git").rglob("*")) == []


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "link/out"])
def test_archives_cannot_write_outside_of_the_project(tmp_path: Path, name: str) -> None:
    """Neither by their names nor through links."""
    target = tmp_path / "project"
    target.mkdir()
    archive_path = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive_path, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, str(tmp_path))
        archive.writestr(name, "escaped")
    with pytest.raises(UnsafeArchive):
        extract_zip(archive_path, target)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("patterns", "exclude", "expected"),
    [
        (["a"], [], ["a/b/c.txt", "a/x.txt"]),
        (["*.txt"], [], ["top.txt"]),
        (["**/*.txt"], [], ["a/b/c.txt", "a/x.txt", "top.txt"]),
        (["a/*"], [], ["a/b/c.txt", "a/x.txt"]),
        (["a/**/*.txt"], ["a/x.*"], ["a/b/c.txt"]),
        (["{top,other}.txt"], [], ["top.txt"]),
        (["[!a]op.txt", "./a/../top.txt"], [], ["top.txt"]),
        (["."], ["a/**/*"], ["link", "top.txt"]),
        (["../outside", "/etc/passwd", "link/outside"], [], []),
    ],
)
def test_path_patterns(tmp_path: Path, patterns: list[str], exclude: list[str], expected: list[str]) -> None:
    """Directories are included with their contents; nothing outside of the project matches."""
    root = tmp_path / "project"
    for name in ("a/b/c.txt", "a/x.txt", "top.txt", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (tmp_path / "outside").touch()
    (root / "link").symlink_to(tmp_path)
    assert matching_files(root, patterns, exclude)[0] == expected


@pytest.mark.parametrize(
    ("secrets", "pieces", "expected"),
    [
        (["abc"], ["xab", "cy"], "x[MASKED]y"),
        (["abc"], ["xab", "dy"], "xabdy"),
        (["abab"], ["xabab", "ab"], "x[MASKED]ab"),
        (["abc", "abcdef"], ["abc", "def", " abc", "de "], "[MASKED] [MASKED]de "),
        (["aa"], ["aaa"], "[MASKED]a"),
        (["geheim\n"], ["gehei", "m", "\n"], "[MASKED]"),
        (["", "ü"], ["ü".encode()[:1].decode("latin-1")], None),
        ([], ["glpat-", "abc", " x"], "[MASKED] x"),
        ([], ["glpat", "-"], "glpat-"),
    ],
)
def test_masking_of_output_in_pieces(secrets: list[str], pieces: list[str], expected: str | None) -> None:
    """A secret is found in any division into pieces."""
    mask = SecretMask(secrets, ["glpat-"])
    output = b"".join(mask.feed(piece.encode("latin-1")) for piece in pieces) + mask.flush()
    assert output == ("".join(pieces) if expected is None else expected).encode("latin-1")
