"""Jobs with a prepared server: steps, variables, log, cancellation and timeouts."""

import os
import threading
import zlib
from pathlib import Path

import pytest

from ingot.runner.worker import RunnerWorker
from tests.ci.own_runner.conftest import AddJob
from tests.ci.own_runner.protocol_server import TOKEN, ProtocolServer
from tests.server.process import is_alive, until


def test_a_job_runs_its_script_in_a_checkout(runner: RunnerWorker, add_job: AddJob) -> None:
    """The log has the commands, their output and sections; the final state has its checksum."""
    job = add_job(["cat tracked.txt", "echo a; echo b >&2", "git log --oneline | wc -l"])
    assert runner.run_once()
    assert "$ cat tracked.txt\x1b[0;m\ntracked\n" in job.text
    assert "a\nb\n" in job.text
    assert "section_start:" in job.text and ":step_script\r\x1b[0K" in job.text
    assert job.final["state"] == "success"
    assert job.final["output"] == {"checksum": f"crc32:{zlib.crc32(job.trace):08x}", "bytesize": len(job.trace)}
    assert not runner.run_once()


def test_a_failing_command_ends_the_script(runner: RunnerWorker, add_job: AddJob) -> None:
    """The exit status is reported, and after_script runs in a new shell."""
    job = add_job(
        ["export A=1", "false | true", "echo not reached"], ["echo after:$CI_JOB_STATUS:${A:-unset}", "exit 9"]
    )
    runner.run_once()
    assert job.final["state"] == "failed"
    assert (job.final["failure_reason"], job.final["exit_code"]) == ("script_failure", 1)
    assert "echo not reached" not in job.text
    assert "after:failed:unset" in job.text
    job = add_job(["exit 37"])
    runner.run_once()
    assert job.final["exit_code"] == 37


def test_variables_are_expanded_once_and_files_are_written(runner: RunnerWorker, add_job: AddJob) -> None:
    """Later variables win; raw ones are not expanded; file variables hold a path."""
    job = add_job(
        [
            'echo "[$A|$B|$RAW|$DOLLAR|$MISSING]"',
            'echo "$(cat $FILE)|$REFERS"',
            'test "$(stat -c %a $FILE)" = 600',
            'case "$CI_PROJECT_DIR" in "$PWD") echo in project;; esac',
        ],
        variables=[
            {"key": "A", "value": "old"},
            {"key": "A", "value": "new"},
            {"key": "B", "value": "$A-${C}"},
            {"key": "C", "value": "<$A>"},
            {"key": "RAW", "value": "$A", "raw": True},
            {"key": "DOLLAR", "value": "$$A"},
            {"key": "MISSING", "value": "$NOTHING"},
            {"key": "FILE", "value": "content of $A", "file": True},
            {"key": "REFERS", "value": "$FILE"},
        ],
    )
    runner.run_once()
    assert "[new|new-<$A>|$A|$A|]" in job.text
    assert "content of new|" in job.text and ".tmp/FILE\n" in job.text
    assert "in project" in job.text
    assert job.final["state"] == "success"


def test_secrets_are_masked(runner: RunnerWorker, add_job: AddJob) -> None:
    """Masked variables, the job's token and known kinds of tokens never reach the log."""
    job = add_job(
        [
            "echo first:$SECRET",
            f"printf 'super'; sleep 0.3; echo 'secret'; echo $CI_JOB_TOKEN {TOKEN} glpat-abcDEF123 end",
        ],
        variables=[{"key": "SECRET", "value": "supersecret", "masked": True}],
    )
    runner.run_once()
    assert "supersecret" not in job.text and TOKEN not in job.text and "glpat-" not in job.text
    assert "first:[MASKED]" in job.text and "[MASKED] [MASKED] [MASKED] end" in job.text


def test_the_runner_hides_its_own_secrets(
    runner: RunnerWorker, add_job: AddJob, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Settings of a server are not in the environment, and the token is in no command line and no file of git."""
    real = next(folder for folder in os.environ["PATH"].split(":") if (Path(folder) / "git").exists())
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "git $@" >> {tmp_path}/commands\nexec {real}/git "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("INGOT_ROOT_TOKEN", "root-secret")
    job = add_job(["echo root:$INGOT_ROOT_TOKEN:", "cat .git/config", "git config --get-regexp 'credential.*' | wc -l"])
    runner.run_once()
    assert "root::" in job.text
    assert "git fetch" in (tmp_path / "commands").read_text()
    assert TOKEN not in (tmp_path / "commands").read_text()
    assert "gitlab-ci-token" not in job.text


def test_lost_bytes_of_the_log_are_sent_again(runner: RunnerWorker, add_job: AddJob) -> None:
    """After 416 the runner continues at the size that the server has."""
    job = add_job(["for i in 1 2 3 4 5 6; do echo line $i; sleep 0.4; done"])
    job.lose_bytes_at = 30
    runner.run_once()
    assert [f"line {number}" in job.text for number in range(1, 7)] == [True] * 6
    assert job.final["output"]["bytesize"] == len(job.trace)


@pytest.mark.parametrize("status", [412, 202, 503])
def test_a_refused_final_state_is_sent_again(runner: RunnerWorker, add_job: AddJob, status: int) -> None:
    """After 412 the whole log is sent again."""
    job = add_job(["echo hello"])
    job.refuse_final_state = status
    runner.run_once()
    assert job.final["state"] == "success"
    assert "\nhello\n" in job.text


def test_a_canceled_job_is_killed(runner: RunnerWorker, add_job: AddJob, tmp_path: Path) -> None:
    """Processes in the background end too, and after_script does not run."""
    marker = tmp_path / "pid"
    job = add_job([f"sleep 300 & echo $! > {marker}; echo started; sleep 300"], ["echo after"])
    job.status = lambda trace: "canceled" if b"\nstarted" in trace else "running"
    runner.run_once()
    assert (job.final["state"], job.final["failure_reason"]) == ("failed", "job_canceled")
    assert "after" not in job.text
    until("its end", lambda: not is_alive(int(marker.read_text())))


def test_a_canceling_job_runs_its_after_script(runner: RunnerWorker, add_job: AddJob) -> None:
    """The status in after_script is canceled."""
    job = add_job(["echo started; sleep 300"], ["sleep 0.5", "echo after:$CI_JOB_STATUS"])
    job.status = lambda trace: "canceling" if b"\nstarted" in trace else "running"
    runner.run_once()
    assert (job.final["state"], job.final["failure_reason"]) == ("failed", "job_canceled")
    assert "after:canceled" in job.text


def test_a_job_that_takes_too_long_is_killed(runner: RunnerWorker, add_job: AddJob) -> None:
    """The reason is the timeout, and after_script does not run."""
    job = add_job(["echo started; sleep 300"], ["echo after"], runner_info={"timeout": 1})
    runner.run_once()
    assert (job.final["state"], job.final["failure_reason"]) == ("failed", "job_execution_timeout")
    assert "longer than 1 seconds" in job.text
    assert "echo after" not in job.text


def test_a_background_process_does_not_hold_the_job_open(runner: RunnerWorker, add_job: AddJob, tmp_path: Path) -> None:
    """It is killed when the script ends."""
    job = add_job([f"sleep 300 & echo $! > {tmp_path}/pid"])
    runner.run_once()
    assert job.final["state"] == "success"
    until("its end", lambda: not is_alive(int((tmp_path / "pid").read_text())))


def test_unknown_failure_reasons_are_not_sent(runner: RunnerWorker, add_job: AddJob) -> None:
    """The server lists the reasons that it knows; a missing commit is a failure of the system."""
    missing = {"repo_url": "file:///nonexistent/group/project", "ref": "master", "sha": "0" * 40}
    job = add_job(["true"], git_info=missing)
    runner.run_once()
    assert job.final["failure_reason"] == "runner_system_failure"
    job = add_job(["true"], git_info=missing, features={"failure_reasons": ["script_failure"]})
    runner.run_once()
    assert job.final["failure_reason"] == "unknown_failure"


def test_the_smallest_assignment_is_enough(
    runner: RunnerWorker, add_job: AddJob, repository: tuple[str, str], server: ProtocolServer
) -> None:
    """GitLab 9.4 sends no refspecs and features, and [null] for no artifacts and caches."""
    url, sha = repository
    git = {"repo_url": url, "ref": "master", "sha": sha, "before_sha": sha, "ref_type": "branch"}
    job = add_job(["echo hello"], git_info=git, features=None, artifacts=[None], cache=[None])
    runner.run_once()
    assert job.final["state"] == "success"
    assert "section_start" not in job.text


def test_a_work_tree_is_reused_and_cleaned(runner: RunnerWorker, add_job: AddJob) -> None:
    """Files, hooks and settings of an earlier job are gone; a new clone starts from nothing."""
    hook = "printf '#!/bin/sh\\necho hooked\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout"
    add_job(
        ["touch left", "mkdir -p .git/hooks", hook, "git config core.fsmonitor 'echo hooked'", "touch .git/index.lock"]
    )
    runner.run_once()
    job = add_job(["ls", "test ! -e left"])
    runner.run_once()
    assert job.final["state"] == "success", job.text
    assert "hooked" not in job.text and "Fetching changes" in job.text
    job = add_job(["true"], variables=[{"key": "GIT_STRATEGY", "value": "clone"}])
    runner.run_once()
    assert "Cloning the repository" in job.text


def test_a_long_log_is_cut(runner: RunnerWorker, add_job: AddJob) -> None:
    """The log ends with a notice; the job continues."""
    job = add_job(["head -c 5000000 /dev/zero | tr '\\0' x", "exit 3"])
    runner.run_once()
    assert job.final["exit_code"] == 3
    assert len(job.trace) < 4_200_000
    assert "exceeds the limit" in job.text[-300:]


def test_a_job_that_cannot_start_is_reported(runner: RunnerWorker, add_job: AddJob, tmp_path: Path) -> None:
    """The directory of builds is a file."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "builds").touch()
    job = add_job(["true"])
    runner.run_once()
    assert (job.final["state"], job.final["failure_reason"]) == ("failed", "runner_system_failure")


def test_concurrent_jobs_have_work_trees_of_their_own(runner: RunnerWorker, add_job: AddJob, tmp_path: Path) -> None:
    """Also those of runners that share a directory."""
    jobs = [
        add_job(
            [
                f"echo {name} > name; touch {tmp_path}/{name}",
                f"until test -e {tmp_path}/{other}; do sleep 0.05; done",
                f"grep {name} name",
            ]
        )
        for name, other in (("one", "two"), ("two", "one"))
    ]
    threads = [threading.Thread(target=runner.run_once) for _ in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [job.final["state"] for job in jobs] == ["success"] * 2
