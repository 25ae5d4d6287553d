"""Selection of jobs by ``rules``, ``workflow:rules``, ``only`` and ``except``."""

from time import monotonic

import pytest

from ingot.ci.config.compiler import plan_pipeline, read_config
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.plan import Need
from tests.ci.config.context import PipelineFacts, RepositoryFiles, plan, plan_or_none

MERGE_REQUEST = {
    "source": "merge_request_event",
    "ref": "topic",
    "variables": {"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "1"},
}


@pytest.mark.parametrize(
    ("rules", "result"),
    [
        ("[{if: $UNSET}]", None),
        ("[{if: $SET}]", ("on_success", False)),
        ("[{if: $SET}, {when: manual}]", ("on_success", False)),
        ("[{if: $UNSET}, {when: manual}]", ("manual", False)),
        ("[{when: manual, allow_failure: true}]", ("manual", True)),
        ("[{if: $SET, when: never}, {when: always}]", None),
        ("[{if: $UNSET, when: never}, {when: always}]", ("always", False)),
        ("[{when: on_failure}]", ("on_failure", False)),
        ("[{allow_failure: true}]", ("on_success", True)),
        ("[[{if: $UNSET}, [{if: $SET, when: always}]]]", ("always", False)),
        ("[{if: $SET, changes: [x]}]", None),
        ("[{if: $SET, changes: [docs/*]}]", ("on_success", False)),
        ("[{changes: {paths: [docs/*], compare_to: main}}]", ("on_success", False)),
        ("[{exists: [Dockerfile]}]", ("on_success", False)),
        ("[{exists: {paths: [nope, '*/*.py']}}]", ("on_success", False)),
        ("[{exists: [$FILE]}]", ("on_success", False)),
        ("[{exists: [nope]}]", None),
        ("[{exists: {paths: [Dockerfile], project: other}}]", None),
        ("[{exists: {paths: [Dockerfile@v1], project: $FILE, ref: v$SET}}]", ("on_success", False)),
        ("[{if: $SET, changes: [docs/*], exists: [nope]}]", None),
    ],
)
def test_first_matching_rule_decides(rules: str, result: tuple[str, bool] | None) -> None:
    jobs = plan(
        f"job: {{script: [x], rules: {rules}}}",
        variables={"SET": "1", "FILE": "Dockerfile"},
        changes=["docs/index.md"],
        paths=["Dockerfile", "src/a.py"],
    )
    job = jobs.get("job")
    assert (None if job is None else (job.when, job.allow_failure)) == result


@pytest.mark.parametrize(
    ("job", "result"),
    [
        ("when: manual", ("manual", True)),
        ("when: manual, allow_failure: false", ("manual", False)),
        ("when: manual, rules: [{if: $SET}]", ("manual", True)),
        ("when: manual, allow_failure: false, rules: [{if: $SET}]", ("manual", False)),
        ("rules: [{if: $SET, when: manual}]", ("manual", False)),
        ("allow_failure: true, rules: [{if: $SET, when: manual}]", ("manual", True)),
        ("allow_failure: true, rules: [{if: $SET, allow_failure: false}]", ("on_success", False)),
        ("when: always", ("always", False)),
        ("allow_failure: true", ("on_success", True)),
        ("allow_failure: {exit_codes: 1}", ("on_success", False)),
    ],
)
def test_manual_jobs_block_only_if_a_rule_makes_them_manual(job: str, result: tuple[str, bool]) -> None:
    planned = plan(f"job: {{script: [x], {job}}}", variables={"SET": "1"})["job"]
    assert (planned.when, planned.allow_failure) == result


def test_effects_of_a_rule() -> None:
    jobs = plan("""
variables: {A: file, B: $A/b}
build: {stage: build, script: [x]}
lint: {stage: build, script: [x]}
job:
  script: [x]
  needs: [build]
  variables: {C: job}
  interruptible: false
  rules:
    - if: $B == "file/b" && $C == "job"
      when: delayed
      start_in: 5 minutes
      variables: {C: rule, D: 4}
      needs: [lint]
      interruptible: true
""")
    job = jobs["job"]
    assert (job.when, job.start_in, job.interruptible, job.needs) == ("delayed", 300, True, (Need("lint"),))
    assert {name: each.value for name, each in job.variables.items()} == {
        "A": "file",
        "B": "$A/b",
        "C": "rule",
        "D": "4",
    }


def test_variables_from_outside_have_precedence_over_the_file() -> None:
    text = 'variables: {A: file}\njob: {script: [x], rules: [{if: $A == "outside"}]}'
    assert plan(text) == {}
    assert list(plan(text, variables={"A": "outside"})) == ["job"]


def test_raw_variables_are_not_expanded_in_rules() -> None:
    rule = """rules: [{if: '$B == "$A"'}]"""
    assert list(plan(f"variables: {{A: x, B: {{value: $A, expand: false}}}}\njob: {{script: [x], {rule}}}")) == ["job"]
    assert plan(f"variables: {{A: x, B: $A}}\njob: {{script: [x], {rule}}}") == {}


def test_everything_counts_as_changed_without_a_base() -> None:
    text = "job: {script: [x], rules: [{changes: [a]}]}\nold: {script: [x], only: {changes: [a]}}"
    assert list(plan(text, changes=None)) == ["job", "old"]
    assert plan(text, changes=[]) == {}


def test_compare_to_is_expanded_and_asked_once() -> None:
    rule = "rules: [{changes: {paths: [$DIR/**/*], compare_to: refs/heads/$BASE}}]"
    facts = PipelineFacts(variables={"BASE": "main", "DIR": "src"}, changes=["src/a/b.c"])
    config = read_config(f"a: {{script: [x], {rule}}}\nb: {{script: [x], {rule}}}", RepositoryFiles(), facts)
    planned = plan_pipeline(config, facts)
    assert planned is not None
    assert [job.spec.name for job in planned.jobs] == ["a", "b"]
    assert facts.compared == ["refs/heads/main"]


WORKFLOW = """
workflow:
  name: $CI_COMMIT_BRANCH build
  auto_cancel: {on_new_commit: interruptible}
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS
      when: never
    - if: $CI_COMMIT_BRANCH
      variables: {MODE: branch, OWN: workflow}
      auto_cancel: {on_new_commit: none, on_job_failure: all}
variables: {MODE: none}
job:
  script: [x]
  variables: {OWN: job}
  rules:
    - if: $MODE == "branch"
      when: always
    - if: $CI_MERGE_REQUEST_IID
plain: {script: [x]}
isolated: {script: [x], inherit: {variables: false}}
"""


def test_workflow_without_duplicate_pipelines() -> None:
    assert plan_or_none(WORKFLOW) is None
    assert plan_or_none(WORKFLOW, variables={"CI_COMMIT_BRANCH": "a", "CI_OPEN_MERGE_REQUESTS": "g/p!1"}) is None
    assert list(plan(WORKFLOW, None, **MERGE_REQUEST)) == ["job", "plain", "isolated"]


def test_workflow_variables_and_settings() -> None:
    planned = plan_or_none(WORKFLOW, variables={"CI_COMMIT_BRANCH": "a"})
    assert planned is not None
    assert (planned.name, planned.on_new_commit, planned.on_job_failure) == ("$CI_COMMIT_BRANCH build", "none", "all")
    assert planned.variables["MODE"].value == "branch"
    job, plain, isolated = planned.jobs
    assert (job.when, job.variables["MODE"].value, job.variables["OWN"].value) == ("always", "branch", "job")
    assert plain.variables["OWN"].value == "workflow"
    assert isolated.variables == {}


@pytest.mark.parametrize(
    ("policy", "facts", "selected"),
    [
        ("", {}, True),
        ("", {"is_tag": True}, True),
        ("", MERGE_REQUEST, False),
        ("only: [main]", {}, True),
        ("only: [main]", {}, True),
        ("only: [main]", {"ref": "main", "is_tag": True}, True),
        ("only: [main]", {"ref": "maintenance"}, False),
        ("only: [main]", {**MERGE_REQUEST, "ref": "main"}, False),
        ("only: [/^ma/]", {"ref": "maintenance"}, True),
        ("only: [/in/]", {"ref": "main"}, True),
        ("only: [/MAIN/i]", {}, True),
        ("only: [/MAIN/]", {}, False),
        ("only: [/^ma/]", {**MERGE_REQUEST, "ref": "main"}, False),
        ("only: [branches]", {}, True),
        ("only: [branches]", {"is_tag": True}, False),
        ("only: [branches]", MERGE_REQUEST, False),
        ("only: [tags]", {}, False),
        ("only: [tags]", {"is_tag": True}, True),
        ("only: [merge_requests]", MERGE_REQUEST, True),
        ("only: [merge_requests]", {}, False),
        ("only: [branches, merge_requests]", MERGE_REQUEST, True),
        ("only: [pushes]", {}, True),
        ("only: [pushes]", {"source": "web"}, False),
        ("only: [web]", {"source": "web"}, True),
        ("only: [triggers]", {"source": "trigger"}, True),
        ("only: [schedules]", {"source": "schedule"}, True),
        ("only: [api]", {"source": "api"}, True),
        ("only: [external]", {"source": "external"}, True),
        ("only: [pipelines]", {"source": "pipeline"}, True),
        ("only: [schedule]", {"source": "schedule"}, True),
        ("only: [api]", {"ref": "api"}, True),
        ("only: [branches@group/project]", {}, True),
        ("only: [branches@group/other]", {}, False),
        ("only: [main@group/project]", {}, True),
        ("only: [main@other/project]", {}, False),
        ("only: ['/^m.*/@group/project']", {}, True),
        ("only: ['/^m.*/@group/sim']", {}, False),
        ("only: ['/^m.*/@group/sim']", {"project_path": "group/sim"}, True),
        ("only: ['/^v@1/']", {"ref": "v@1"}, True),
        ("only: []", {}, False),
        ("except: [main]", {}, False),
        ("except: [main]", {"ref": "other"}, True),
        ("except: [main@other/project]", {}, True),
        ("except: [tags]", {"is_tag": True}, False),
        ("except: [branches]", {}, False),
        ("except: [schedules]", {"source": "schedule"}, False),
        ("except: [main]", MERGE_REQUEST, False),
        ("only: [main]\n  except: [pushes]", {}, False),
        ("only: [main]\n  except: [web]", {}, True),
        ("only: {refs: [main]}", {}, True),
        ("only: {refs: [other]}", {}, False),
        ("only: {variables: [$SET]}", {"variables": {"SET": "1"}}, True),
        ("only: {variables: [$UNSET]}", {}, False),
        ("only: {variables: [$UNSET, $SET]}", {"variables": {"SET": "1"}}, True),
        ("only: {variables: [$SET]}", {**MERGE_REQUEST, "variables": {"SET": "1"}}, False),
        ("only: {refs: [main], variables: [$UNSET]}", {}, False),
        ("only: {changes: ['*.md']}", {"changes": ["README.md"]}, True),
        ("only: {changes: ['*.md']}", {"changes": ["docs/README.md"]}, False),
        ("only: {changes: ['**/*.md']}", {"changes": ["docs/README.md"]}, True),
        ("only: {kubernetes: active}", {}, False),
        ("except: {kubernetes: active}", {}, True),
        ("except: {variables: [$SET]}", {"variables": {"SET": "1"}}, False),
        ("except: {changes: [a]}", {"changes": ["a"]}, False),
        ("except: {refs: [other], changes: [a]}", {"changes": ["b"]}, True),
    ],
)
def test_only_and_except(policy: str, facts: dict[str, object], selected: bool) -> None:
    jobs = plan(f"job:\n  script: [x]\n  {policy}\nother: {{script: [x], rules: [{{when: always}}]}}", None, **facts)
    assert ("job" in jobs) is selected


def test_needs_of_jobs_that_are_not_in_the_pipeline() -> None:
    text = "a: {{script: [x], rules: [{{if: $A}}]}}\nb: {{script: [x], needs: [{need}]}}"
    with pytest.raises(ConfigError, match="'b' job needs 'a' job, but 'a' does not exist in the pipeline"):
        plan(text.format(need="a"))
    assert plan(text.format(need="{job: a, optional: true}"))["b"].needs == ()
    with_job = plan(text.format(need="{job: a, optional: true, artifacts: false}"), variables={"A": "1"})
    assert with_job["b"].needs == (Need("a", artifacts=False, optional=True),)
    assert plan("b: {script: [x], needs: [{job: missing, optional: true}]}")["b"].needs == ()
    assert plan("b: {script: [x], needs: [{pipeline: $UP, job: x}]}")["b"].needs == ()


@pytest.mark.parametrize("rule", ["{if: '$A =~ /(a*)*(a*)*b/'}", "{exists: [$CI_NODE]}"])
def test_work_of_all_rules_is_limited(rule: str) -> None:
    """Attack: many rules search a long value or many paths."""
    names = "\n".join(
        f"job{number}: {{script: x, variables: {{CI_NODE: 'x{number}'}}, rules: [{rule}, {{when: always}}]}}"
        for number in range(40)
    )
    text = f"variables: {{A: {'a' * 600_000}}}\n{names}\n"
    paths = ["folder/file"] * 150_000
    begin = monotonic()
    with pytest.raises(ConfigError, match="take too long to evaluate"):
        plan(text, paths=paths)
    assert monotonic() - begin < 20
    few = text.partition("job20")[0]
    assert len(plan(few, paths=paths)) == 20
