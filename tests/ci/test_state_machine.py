"""The state machine of jobs: a table of jobs, events and the statuses that follow."""

from collections.abc import Sequence
from typing import get_args

import pytest

from ingot.ci.pipelines.state_machine import JobState, advance, composite_status, restore_skipped
from ingot.pipelines.tables import Status

_EVENTS: dict[str, Status] = {
    "success": "success",
    "failed": "failed",
    "canceled": "canceled",
    "running": "running",
    "play": "pending",
    "retry": "pending",
}


def _jobs(*texts: str) -> dict[str, JobState]:
    """Build jobs from ``name stage when? optional? needs=a,b``; stages are numbers."""
    jobs = {}
    for number, text in enumerate(texts, 1):
        name, stage, *options = text.split()
        needs = [option.removeprefix("needs=") for option in options if option.startswith("needs=")]
        when = next((option for option in options if option in ("on_failure", "always", "manual", "delayed")), None)
        jobs[name] = JobState(
            number,
            name,
            int(stage),
            "created",
            when or "on_success",
            "optional" in options,
            tuple(filter(None, needs[0].split(","))) if needs else None,
        )
    return jobs


def _settle(jobs: dict[str, JobState]) -> None:
    transitions = {transition.job_id: transition.status for transition in advance(list(jobs.values()))}
    jobs.update({name: job._replace(status=transitions.get(job.id, job.status)) for name, job in jobs.items()})


def _apply(jobs: dict[str, JobState], event: str) -> None:
    """Apply ``event job…`` and let the other jobs follow."""
    kind, *names = event.split()
    for name in names:
        jobs[name] = jobs[name]._replace(status=_EVENTS[kind])
    if kind in ("play", "retry"):
        restored = {transition.job_id for transition in restore_skipped(list(jobs.values()), names)}
        jobs.update({name: job._replace(status="created") for name, job in jobs.items() if job.id in restored})
    _settle(jobs)


STAGES = ("build 0", "test 1", "deploy 2")
MANUAL_CHAIN = ("build 0", "review 1 manual needs=build", "deploy 2 needs=review")


@pytest.mark.parametrize(
    ("jobs", "events", "statuses", "pipeline"),
    [
        pytest.param(STAGES, [], "pending created created", "pending", id="the first stage starts"),
        pytest.param(STAGES, ["running build"], "running created created", "running", id="running"),
        pytest.param(STAGES, ["success build"], "success pending created", "running", id="the next stage starts"),
        pytest.param(STAGES, ["success build", "success test", "success deploy"], "success " * 3, "success", id="end"),
        pytest.param(STAGES, ["failed build"], "failed skipped skipped", "failed", id="a failure skips later stages"),
        pytest.param(STAGES, ["canceled build"], "canceled skipped skipped", "canceled", id="canceled job"),
        pytest.param(
            ("a 0", "b 0", "c 1"),
            ["failed a"],
            "failed pending created",
            "running",
            id="a stage waits for all its jobs",
        ),
        pytest.param(
            ("a 0 optional", "b 1", "c 1 on_failure"),
            ["failed a", "success b"],
            "failed success skipped",
            "success",
            id="an allowed failure counts as success",
        ),
        pytest.param(
            ("a 0 optional", "b 1"), ["canceled a"], "canceled pending", "pending", id="an allowed cancellation too"
        ),
        pytest.param(
            ("a 0", "b 1", "c 1 on_failure", "d 2 always"),
            ["failed a"],
            "failed skipped pending created",
            "running",
            id="on_failure runs after a failure",
        ),
        pytest.param(
            ("a 0", "b 1", "c 1 on_failure", "d 2 always"),
            ["failed a", "success c"],
            "failed skipped success pending",
            "running",
            id="always runs after a failure",
        ),
        pytest.param(
            ("a 0", "b 1 on_failure", "c 2"),
            ["success a"],
            "success skipped pending",
            "running",
            id="skipped counts as success for later stages",
        ),
        pytest.param(
            ("a 0", "b 1", "c 1 on_failure", "d 1 always"),
            ["canceled a"],
            "canceled skipped skipped pending",
            "running",
            id="always runs after a cancellation",
        ),
        pytest.param(("a 0 on_failure",), [], "skipped", "skipped", id="nothing has failed before the first stage"),
        pytest.param(("a 0 on_failure", "b 1"), [], "skipped pending", "pending", id="skipped first stage"),
        pytest.param(
            ("a 0", "b 1 manual optional", "c 2"),
            ["success a"],
            "success manual pending",
            "running",
            id="optional manual",
        ),
        pytest.param(
            ("a 0", "b 1 manual optional", "c 2"),
            ["success a", "success c"],
            "success manual success",
            "success",
            id="an optional manual job does not block",
        ),
        pytest.param(
            ("a 0", "b 1 manual", "c 2"), ["success a"], "success manual created", "manual", id="blocking manual"
        ),
        pytest.param(
            ("a 0", "b 1 manual", "c 2"),
            ["success a", "play b", "success b"],
            "success success pending",
            "running",
            id="a played manual job lets the pipeline continue",
        ),
        pytest.param(
            ("a 0", "b 1 manual", "c 2"),
            ["success a", "play b", "failed b"],
            "success failed skipped",
            "failed",
            id="a played manual job fails",
        ),
        pytest.param(("a 0 manual optional",), [], "manual", "skipped", id="only optional manual jobs"),
        pytest.param(("a 0", "b 1 manual"), ["failed a"], "failed skipped", "failed", id="manual after a failure"),
        pytest.param(
            ("a 0", "b 1 delayed", "c 2"), ["success a"], "success scheduled created", "scheduled", id="delayed"
        ),
        pytest.param(
            ("a 0", "b 1 delayed", "c 2"),
            ["success a", "play b", "success b"],
            "success success pending",
            "running",
            id="after a delayed job",
        ),
        pytest.param(
            (".pre 0", "a 1", ".post 2 always"), ["failed .pre"], "failed skipped pending", "running", id="pre and post"
        ),
        pytest.param(
            ("a 0", "b 1", "c 2 needs="), [], "pending created pending", "pending", id="empty needs start at once"
        ),
        pytest.param(("a 0 on_failure needs=",), [], "skipped", "skipped", id="on_failure without needs"),
        pytest.param(
            ("a 0", "b 0", "c 1 needs=a", "d 2 needs=c"),
            ["success a", "success c"],
            "success pending success pending",
            "running",
            id="needs do not wait for the stage",
        ),
        pytest.param(
            ("a 0", "c 1 needs=a", "d 2 needs=c", "e 2 always needs=c"),
            ["failed a"],
            "failed skipped skipped pending",
            "running",
            id="a skipped need skips, except for always",
        ),
        pytest.param(
            ("a 0", "b 1 on_failure needs=a", "c 2 on_failure"),
            ["failed a"],
            "failed pending created",
            "running",
            id="on_failure with needs",
        ),
        pytest.param(
            ("a 0", "b 1 on_failure needs=a", "c 2 needs=b", "d 2"),
            ["success a"],
            "success skipped skipped pending",
            "running",
            id="with needs, skipped does not count as success",
        ),
        pytest.param(
            ("a 0 optional", "b 1 needs=a", "c 1 on_failure needs=a"),
            ["failed a"],
            "failed pending skipped",
            "pending",
            id="allowed failure of a need",
        ),
        pytest.param(
            ("a 0", "b 0 needs=a", "c 0 needs=b"), ["success a"], "success pending created", "running", id="same stage"
        ),
        pytest.param(
            ("c 0 needs=b", "b 0 needs=a", "a 0"), ["failed a"], "skipped skipped failed", "failed", id="reverse order"
        ),
        pytest.param(
            MANUAL_CHAIN,
            ["success build"],
            "success manual created",
            "manual",
            id="a needed blocking manual job blocks",
        ),
        pytest.param(
            ("build 0", "review 1 manual optional needs=build", "deploy 2 needs=review"),
            ["success build"],
            "success manual skipped",
            "success",
            id="a job that needs an optional manual job does not block",
        ),
        pytest.param(
            ("build 0", "review 1 manual optional needs=build", "deploy 2 needs=review"),
            ["success build", "play review", "success review"],
            "success success pending",
            "running",
            id="and runs after it was played",
        ),
        pytest.param(
            ("a 0", "b 0 manual optional", "c 1 always needs=a,b"),
            [],
            "pending manual pending",
            "pending",
            id="always with a manual need",
        ),
        pytest.param(("b 1 needs=missing",), [], "pending", "pending", id="optional need that is absent"),
        pytest.param(
            STAGES,
            ["failed build", "retry build"],
            "pending created created",
            "pending",
            id="retry restores skipped jobs",
        ),
        pytest.param(
            ("a 0", "b 0", "c 1 always", "d 2"),
            ["failed a", "success b", "success c", "retry a"],
            "pending success success created",
            "running",
            id="retry leaves finished jobs",
        ),
        pytest.param(
            ("a 0", "b 0 needs=a", "c 0 needs=b", "x 0 on_failure needs="),
            ["failed a", "retry a"],
            "pending created created skipped",
            "pending",
            id="retry restores dependents of the same stage only",
        ),
    ],
)
def test_transitions(jobs: Sequence[str], events: Sequence[str], statuses: str, pipeline: Status) -> None:
    state = _jobs(*jobs)
    _settle(state)
    for event in events:
        _apply(state, event)
    assert [job.status for job in state.values()] == statuses.split()
    assert composite_status(state.values()) == pipeline
    assert advance(list(state.values())) == []


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ("", "success"),
        ("skipped", "skipped"),
        ("skipped manual?", "skipped"),
        ("failed? skipped", "success"),
        ("success skipped", "success"),
        ("success failed?", "success"),
        ("success canceled?", "success"),
        ("success manual?", "success"),
        ("success manual", "manual"),
        ("created", "created"),
        ("created manual?", "created"),
        ("canceled success skipped", "canceled"),
        ("pending created", "pending"),
        ("pending success", "running"),
        ("running pending", "running"),
        ("success created", "running"),
        ("failed running", "running"),
        ("failed created", "running"),
        ("waiting_for_resource created", "waiting_for_resource"),
        ("waiting_for_resource pending", "running"),
        ("manual created", "manual"),
        ("scheduled created", "scheduled"),
        ("manual scheduled", "manual"),
        ("canceling success", "canceling"),
        ("canceling running", "running"),
        ("failed success", "failed"),
        ("failed canceled", "failed"),
        ("failed skipped", "failed"),
    ],
)
def test_composite_status(statuses: str, expected: Status) -> None:
    """A question mark stands for a job that may fail."""
    jobs = []
    for number, text in enumerate(statuses.split()):
        status = text.rstrip("?")
        assert status in get_args(Status)
        jobs.append(JobState(number, text, 0, status, allow_failure=text.endswith("?")))  # type: ignore[arg-type]
    assert composite_status(jobs) == expected


def test_composite_status_of_needs() -> None:
    done, left_out = JobState(1, "a", 0, "success"), JobState(2, "b", 0, "skipped")
    optional = JobState(3, "c", 0, "manual", "manual", allow_failure=True)
    running = JobState(4, "d", 0, "running")
    assert composite_status([done, left_out], dag=True) == "skipped"
    assert composite_status([done, optional, running], dag=True) == "skipped"
    assert composite_status([done, running], dag=True) == "running"


def test_large_pipelines() -> None:
    """A chain of 2,000 jobs is decided in one pass."""
    chain = [JobState(0, "j0", 0, "failed")]
    chain += [JobState(n, f"j{n}", 0, "created", needs=(f"j{n - 1}",)) for n in range(1, 2000)]
    assert {transition.status for transition in advance(chain[::-1])} == {"skipped"}
    assert len(restore_skipped([job._replace(status="skipped") for job in chain], ["j0"])) == 2000
