"""Keywords of jobs and of the top level: the values that jobs get from them."""

from typing import Any

import pytest

from ingot.ci.config.plan import ConfigVariable, JobEnvironment, Need, Retry, TriggerSpec
from tests.ci.config.context import only_job, plan, read


@pytest.mark.parametrize(
    ("keyword", "field", "value"),
    [
        ("script: make", "script", ("make",)),
        ("script: [a, [b, [c]]]", "script", ("a", "b", "c")),
        ("script: [a]\n  before_script: x", "before_script", ("x",)),
        ("script: [a]\n  after_script: [x, y]", "after_script", ("x", "y")),
        ("script: [a]", "stage", "test"),
        ("script: [a]\n  stage: deploy", "stage", "deploy"),
        ("script: [a]\n  type: build", "stage", "build"),
        ("script: [a]\n  stage: .pre", "stage", ".pre"),
        ("script: [a]\n  image: ruby:3", "image", {"name": "ruby:3"}),
        ("script: [a]\n  image: {name: r, entrypoint: ['']}", "image", {"name": "r", "entrypoint": [""]}),
        (
            "script: [a]\n  services: [pg, {name: redis, alias: r, command: [x], variables: {A: b}}]",
            "services",
            ({"name": "pg"}, {"name": "redis", "alias": "r", "command": ["x"], "variables": {"A": "b"}}),
        ),
        ("script: [a]\n  tags: [docker, arm]", "tags", ("docker", "arm")),
        ("script: [a]\n  when: on_failure", "when", "on_failure"),
        ("script: [a]\n  when: delayed\n  start_in: 30 minutes", "start_in", 1800),
        ("script: [a]\n  allow_failure: true", "allow_failure", True),
        ("script: [a]\n  allow_failure: {exit_codes: 137}", "allow_failure_exit_codes", (137,)),
        ("script: [a]\n  allow_failure: {exit_codes: [1, 2]}", "allow_failure_exit_codes", (1, 2)),
        ("script: [a]\n  environment: prod", "environment", JobEnvironment("prod")),
        (
            "script: [a]\n  environment: {name: review/$CI_COMMIT_REF_SLUG, url: 'http://x', action: prepare,"
            " auto_stop_in: 1 day, deployment_tier: testing}",
            "environment",
            JobEnvironment("review/$CI_COMMIT_REF_SLUG", "http://x", "prepare", None, "1 day", "testing"),
        ),
        (
            "script: [a]\n  artifacts: {paths: [x], untracked: true, name: n, when: always, expire_in: never,"
            " exclude: [y], expose_as: z, public: false, reports: {junit: r.xml, dotenv: d.env,"
            " coverage_report: {coverage_format: cobertura, path: c.xml}}}",
            "artifacts",
            {
                "paths": ["x"],
                "untracked": True,
                "name": "n",
                "when": "always",
                "expire_in": "never",
                "exclude": ["y"],
                "expose_as": "z",
                "public": False,
                "reports": {
                    "junit": "r.xml",
                    "dotenv": "d.env",
                    "coverage_report": {"coverage_format": "cobertura", "path": "c.xml"},
                },
            },
        ),
        (
            "script: [a]\n  cache: {key: k, paths: [x], policy: pull, when: always, unprotect: true, untracked: true}",
            "cache",
            ({"key": "k", "paths": ["x"], "policy": "pull", "when": "always", "unprotect": True, "untracked": True},),
        ),
        (
            "script: [a]\n  cache: [{key: {files: [l], prefix: p}, paths: [x]}, {key: b, fallback_keys: [c]}]",
            "cache",
            ({"key": {"files": ["l"], "prefix": "p"}, "paths": ["x"]}, {"key": "b", "fallback_keys": ["c"]}),
        ),
        ("script: [a]\n  cache: []", "cache", ()),
        ("script: [a]\n  dependencies: []", "dependencies", ()),
        ("script: [a]", "dependencies", None),
        ("script: [a]\n  needs: []", "needs", ()),
        ("script: [a]", "needs", None),
        (r"script: [a]" + "\n  coverage: '/(\\d+)%/'", "coverage", r"/(\d+)%/"),
        ("script: [a]\n  retry: 2", "retry", Retry(2)),
        ("script: [a]\n  retry: {max: 1, when: script_failure}", "retry", Retry(1, ("script_failure",))),
        ("script: [a]\n  retry: {max: 1, exit_codes: 137}", "retry", Retry(1, (), (137,))),
        ("script: [a]\n  services: [[a, [{name: b}]], c]", "services", ({"name": "a"}, {"name": "b"}, {"name": "c"})),
        ("script: [a]\n  cache: [[{key: a}], {key: b}]", "cache", ({"key": "a"}, {"key": "b"})),
        (
            "script: [a]\n  retry: {max: 2, when: [api_failure, runner_system_failure]}",
            "retry",
            Retry(2, ("api_failure", "runner_system_failure")),
        ),
        ("script: [a]\n  timeout: 3h 30m", "timeout", 12600),
        ("script: [a]\n  interruptible: true", "interruptible", True),
        ("script: [a]\n  resource_group: prod", "resource_group", "prod"),
        ("script: [a]\n  image:\n  tags:\n  retry:", "image", None),
    ],
)
def test_job_keywords(keyword: str, field: str, value: Any) -> None:
    assert getattr(only_job(f"job:\n  {keyword}\n"), field) == value


def test_variables_of_file_and_job() -> None:
    config = read("""
variables:
  TEXT: plain
  NUMBER: 7
  RATIO: 1.5
  FLAG: true
  NOTHING:
  RAW: {value: $TEXT, expand: false}
  CHOICE: {value: a, options: [a, b], description: Choose}
job:
  script: [x]
  variables: {TEXT: own, PORT: 80}
other:
  script: [x]
""")
    assert config.variables == {
        "TEXT": ConfigVariable("plain"),
        "NUMBER": ConfigVariable("7"),
        "RATIO": ConfigVariable("1.5"),
        "FLAG": ConfigVariable("true"),
        "NOTHING": ConfigVariable(""),
        "RAW": ConfigVariable("$TEXT", raw=True),
        "CHOICE": ConfigVariable("a", description="Choose", options=("a", "b")),
    }
    job, other = config.jobs
    assert (job.variables["TEXT"].value, job.variables["PORT"].value) == ("own", "80")
    assert job.variables["NUMBER"].value == "7"
    assert other.variables == config.variables


@pytest.mark.parametrize(
    ("inherit", "image", "tags", "names"),
    [
        ("", "base", ("t",), {"A", "B"}),
        ("inherit: {default: false}", None, (), {"A", "B"}),
        ("inherit: {default: [image]}", "base", (), {"A", "B"}),
        ("inherit: {variables: false}", "base", ("t",), set()),
        ("inherit: {default: true, variables: [B]}", "base", ("t",), {"B"}),
    ],
)
def test_default_and_inherit(inherit: str, image: str | None, tags: tuple[str, ...], names: set[str]) -> None:
    job = only_job(f"""
default: {{image: base, tags: [t]}}
variables: {{A: a, B: b}}
job:
  script: [x]
  {inherit}
""")
    assert (job.image, job.tags, set(job.variables)) == ({"name": image} if image else None, tags, names)


def test_top_level_values_are_defaults_that_jobs_replace() -> None:
    first, second = read("""
image: base
services: [pg]
before_script: [global]
after_script: [after]
cache: {paths: [global]}
first:
  script: [x]
second:
  script: [x]
  image: own
  services: []
  before_script: []
  cache: {paths: [own]}
""").jobs
    assert (first.image, first.before_script, first.after_script) == ({"name": "base"}, ("global",), ("after",))
    assert (first.services, first.cache) == (({"name": "pg"},), ({"paths": ["global"]},))
    assert (second.image, second.before_script, second.services) == ({"name": "own"}, (), ())
    assert second.cache == ({"paths": ["own"]},)


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ("", (".pre", "build", "test", "deploy", ".post")),
        ("stages: [a, test, b]", (".pre", "a", "test", "b", ".post")),
        ("stages: [test, [x, [y]]]", (".pre", "test", "x", "y", ".post")),
        ("stages: [.post, test, .pre, test]", (".pre", "test", ".post")),
        ("types: [test]", (".pre", "test", ".post")),
    ],
)
def test_stages(stages: str, expected: tuple[str, ...]) -> None:
    assert read(f"{stages}\njob: {{script: [x]}}").stages == expected


def test_stages_without_jobs_are_not_planned() -> None:
    jobs = plan("stages: [a, b, c]\nx: {stage: c, script: [x]}\ny: {stage: a, script: [x], only: [other]}")
    assert list(jobs) == ["x"]


def test_parallel_copies() -> None:
    config = read("job: {script: [x], parallel: 3}\nlast: {stage: deploy, script: [x], needs: [job]}")
    assert [(spec.name, spec.node) for spec in config.jobs][:3] == [
        ("job 1/3", (1, 3)),
        ("job 2/3", (2, 3)),
        ("job 3/3", (3, 3)),
    ]
    jobs = plan(
        "job: {script: [x], parallel: 2}\nlast: {stage: deploy, script: [x], needs: [job], dependencies: [job]}"
    )
    assert jobs["last"].needs == (Need("job 1/2"), Need("job 2/2"))
    assert jobs["last"].spec.dependencies == ("job 1/2", "job 2/2")


def test_matrix() -> None:
    jobs = plan("""
build:
  stage: build
  script: [x]
  variables: {OS: none, KEEP: yes}
  parallel:
    matrix:
      - OS: [linux, mac]
        ARCH: [x64, 7]
      - OS: windows
one:
  script: [x]
  needs:
    - job: build
      parallel: {matrix: [{OS: linux, ARCH: [x64, 7]}]}
all:
  script: [x]
  needs: [{job: build, artifacts: false}]
same:
  script: [x]
  parallel: {matrix: [{ARCH: [x64, 7]}]}
  needs:
    - job: build
      parallel: {matrix: [{OS: mac, ARCH: ["$[[ matrix.ARCH ]]"]}]}
""")
    assert jobs["same: [7]"].needs == (Need("build: [mac, 7]"),)
    names = ["build: [linux, x64]", "build: [linux, 7]", "build: [mac, x64]", "build: [mac, 7]", "build: [windows]"]
    assert list(jobs)[:5] == names
    assert [jobs[name].spec.node for name in names] == [(index, 5) for index in range(1, 6)]
    values = {name: variable.value for name, variable in jobs["build: [mac, 7]"].variables.items()}
    assert values == {"OS": "mac", "ARCH": "7", "KEEP": "true"}
    assert jobs["one"].needs == (Need("build: [linux, x64]"), Need("build: [linux, 7]"))
    assert jobs["all"].needs == tuple(Need(name, artifacts=False) for name in names)


def test_unsupported_keywords_are_accepted_with_a_warning() -> None:
    config = read("""
job:
  script: [x]
  hooks: {pre_get_sources_script: [x]}
  identity: google_cloud
  retry: {max: 1, when: [runner_interrupted]}
  artifacts: {reports: {junit: a.xml, sast: b.json}}
  rules: [{if: $A}, {when: on_success}]
""")
    assert config.warnings == (
        "jobs:job may allow multiple pipelines to run for a single action due to `rules:when` clause "
        "with no `workflow:rules`",
        "jobs:job uses keywords that are not supported and have no effect: hooks, identity",
        "jobs:job:artifacts:reports are not supported and not stored: sast",
    )


@pytest.mark.parametrize(
    ("value", "trigger"),
    [
        ("group/project", TriggerSpec(project="group/project")),
        (
            "{project: a/b, branch: x, strategy: depend, inputs: {a: 1}}",
            TriggerSpec(project="a/b", branch="x", depend=True, inputs={"a": 1}),
        ),
        ("{include: child.yml}", TriggerSpec(include=("child.yml",))),
        (
            "{include: [{local: a.yml}, {artifact: b.yml, job: c}], forward: {yaml_variables: false}}",
            TriggerSpec(include=({"local": "a.yml"}, {"artifact": "b.yml", "job": "c"}), yaml_variables=False),
        ),
        ("{include: x, forward: {pipeline_variables: true}}", TriggerSpec(include=("x",), pipeline_variables=True)),
    ],
)
def test_trigger(value: str, trigger: TriggerSpec) -> None:
    config = read(f"""
start:
  trigger: {value}
after:
  script: [x]
  needs: [start]
""")
    assert [spec.trigger for spec in config.jobs] == [trigger, None]
    assert config.jobs[1].needs == (Need("start"),)


def test_hidden_jobs_and_anchors() -> None:
    config = read("""
.hidden: &base
  script: [x]
  image: i
".x": {anything: 1}
job:
  <<: *base
  tags: [t]
on:
  script: [y]
""")
    assert [spec.name for spec in config.jobs] == ["job", "true"]
    assert (config.jobs[0].image, config.jobs[0].tags) == ({"name": "i"}, ("t",))
