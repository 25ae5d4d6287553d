"""Types of the values of each keyword, as in GitLab's schema of its editor."""

import pytest

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.keywords import GLOBAL_KEYWORDS, JOB_KEYWORDS
from tests.ci.config.context import RepositoryFiles, only_job, read

_TEN = "[" * 10 + "x" + "]" * 10
_ELEVEN = "[" * 12 + "x" + "]" * 12

JOB_VALUES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "script": (("x", "[x]", "[x, [y]]", _TEN), ("1", "[1]", "{a: b}", "true", "[]", "''", _ELEVEN)),
    "before_script": (("x", "[]", "[x, [y]]"), ("1", "[1]", "{a: b}")),
    "after_script": (("x", "[]", "[x]"), ("1", "[1]", "{a: b}")),
    "image": (
        (
            "ruby",
            "{name: ruby}",
            "{name: r, entrypoint: [''], pull_policy: always, docker: {platform: a, user: b}}",
            "{name: r, pull_policy: [always, if-not-present]}",
        ),
        (
            "1",
            "[ruby]",
            "{}",
            "{name: 1}",
            "{name: r, entrypoint: x}",
            "{name: r, pull_policy: sometimes}",
            "{name: r, docker: {os: x}}",
            "{name: r, foo: 1}",
        ),
    ),
    "services": (
        ("[]", "[pg, {name: pg, alias: a, command: [x], variables: {A: b}}]"),
        ("pg", "[1]", "[{alias: a}]", "[{name: pg, command: x}]", "[{name: pg, alias: 1}]", "{name: pg}"),
    ),
    "cache": (
        (
            "{}",
            "[]",
            "{key: k, paths: [a], policy: pull, when: always, untracked: true, unprotect: true, fallback_keys: [b]}",
            "{policy: $POLICY}",
            "{key: {files: [a, b], prefix: p}}",
            "[{key: a}, {key: b}, {key: c}, {key: d}]",
        ),
        (
            "x",
            "{key: 1}",
            "{key: a/b}",
            "{key: a%2Fb}",
            "{key: ..}",
            "{key: {files: []}}",
            "{key: {files: [a, b, c]}}",
            "{key: {files: [a], prefix: 1}}",
            "{paths: x}",
            "{policy: unknown}",
            "{policy: 1}",
            "{when: never}",
            "{untracked: 1}",
            "{unprotect: yes please}",
            "{fallback_keys: x}",
            "{fallback_keys: [a, b, c, d, e, f]}",
            "[{key: a}, {key: b}, {key: c}, {key: d}, {key: e}]",
            "[1]",
        ),
    ),
    "tags": (("[a, b]",), ("a", "[1]", str([f"t{n}" for n in range(50)]))),
    "artifacts": (
        (
            "{}",
            "{paths: [a], exclude: [b], name: n, untracked: true, when: on_failure, expire_in: 1 week, public: true}",
            "{expire_in: never}",
            "{expire_in: '30'}",
            "{access: developer}",
            "{paths: [a], expose_as: My file}",
            "{reports: {junit: a.xml, dotenv: [b.env], coverage_report: {coverage_format: cobertura, path: c.xml}}}",
        ),
        (
            "x",
            "{paths: x}",
            "{exclude: [1]}",
            "{name: 1}",
            "{untracked: 1}",
            "{when: never}",
            "{expire_in: 1}",
            "{expire_in: soon}",
            "{public: 1}",
            "{access: everybody}",
            "{access: all, public: true}",
            "{expose_as: x}",
            "{paths: ['*.txt'], expose_as: x}",
            "{reports: x}",
            "{reports: {junit: 1}}",
            "{reports: {coverage_report: {path: x}}}",
            "{foo: 1}",
        ),
    ),
    "timeout": (("1h 30m", "'3600'"), ("3600", "long", "[1h]", "2 months")),
    "retry": (
        ("0", "2", "{max: 1}", "{when: script_failure}", "{max: 2, when: [api_failure], exit_codes: [1, 2]}"),
        (
            "3",
            "-1",
            "x",
            "1.5",
            "{max: x}",
            "{when: never}",
            "{when: [never]}",
            "{when: 1}",
            "{exit_codes: x}",
            "{a: 1}",
        ),
    ),
    "interruptible": (("true", "false"), ("1", "maybe", "[true]")),
    "hooks": (("{pre_get_sources_script: [x]}",), ("x", "{post: [x]}", "{pre_get_sources_script: 1}")),
    "id_tokens": (("{A: {aud: x}}", "{A: {aud: [x, y]}}"), ("x", "[A]", "{A: x}", "{A: {}}", "{A: {aud: 1}}")),
    "identity": (("google_cloud",), ("aws", "1")),
    "run": ((), ("x", "[{name: a, step: b}]")),
    "stage": (("build",), ("1", "[build]", "{a: b}")),
    "type": (("build",), ("1",)),
    "only": (
        ("[main, /^v/]", "{refs: [main], variables: [$A], changes: [a], kubernetes: active}"),
        (
            "main",
            "1",
            "[1]",
            "{}",
            "['/(/']",
            "{refs: x}",
            "{variables: x}",
            "{changes: x}",
            "{kubernetes: x}",
            "{a: b}",
        ),
    ),
    "except": (("[main]", "{refs: [main]}"), ("main", "[1]", "{}", "{refs: main}")),
    "rules": (
        (
            "[{if: $A}, [{when: never}]]",
            "[{changes: [a]}, {changes: {paths: [a], compare_to: main}}, {exists: [a]}]",
            "[{exists: {paths: [a], project: p, ref: r}}]",
            "[{when: delayed, start_in: 1 day, allow_failure: true, needs: [], interruptible: true}]",
            "[{variables: {A: b}}]",
        ),
        (
            "x",
            "[]",
            "[x]",
            "[{}]",
            "[{if: 1}]",
            "[{if: '$A ='}]",
            "[{changes: x}]",
            "[{changes: [1]}]",
            "[{changes: {compare_to: x}}]",
            "[{exists: x}]",
            "[{exists: [1]}]",
            "[{exists: {paths: [a], ref: r}}]",
            "[{when: soon}]",
            "[{when: delayed}]",
            "[{start_in: 1 day}]",
            "[{when: delayed, start_in: 5}]",
            "[{allow_failure: {exit_codes: 1}}]",
            "[{variables: {A: {value: x}}}]",
            "[{needs: x}]",
            "[{interruptible: 1}]",
            "[{foo: 1}]",
        ),
    ),
    "when": (("on_success", "on_failure", "always", "manual"), ("never", "delayed", "1", "[always]")),
    "start_in": ((), ("1 day", "1")),
    "manual_confirmation": (("Sure?",), ("1", "[x]")),
    "allow_failure": (("true", "{exit_codes: 1}", "{exit_codes: [1]}"), ("1", "x", "{exit_codes: x}", "{foo: 1}")),
    "variables": (
        ("{A: b, B: 1, C: true, D: 1.5, E: {value: x, expand: false}}", "{A: }"),
        ("x", "[a]", "{A: [b]}", "{A: {value: [x]}}", "{A: {expand: x}}", "{A: {description: x}}"),
    ),
    "environment": (
        (
            "prod",
            "{name: prod, url: 'http://x', action: start, deployment_tier: production, auto_stop_in: 1 day}",
        ),
        (
            "1",
            "a:b",
            "/a",
            "{url: x}",
            "{name: 1}",
            "{name: a, url: 1}",
            "{name: a, action: fly}",
            "{name: a, on_stop: 1}",
            "{name: a, auto_stop_in: 1}",
            "{name: a, deployment_tier: top}",
            "{name: a, kubernetes: x}",
        ),
    ),
    "dependencies": (("[]",), ("x", "[1]", "[null]")),
    "needs": (
        ("[]", "[null]", "[other, null]", "[{job: other, artifacts: false, optional: true}]", "{job: other}"),
        (
            "x",
            "1",
            "[1]",
            "{}",
            "[{artifacts: true}]",
            "[{job: 1}]",
            "[{job: other, artifacts: 1}]",
            "[{job: other, foo: 1}]",
            "[{job: other, parallel: 2}]",
            "[{job: other, parallel: {matrix: x}}]",
            "[{job: other, project: a/b}]",
        ),
    ),
    "coverage": (("'/[0-9]+/'",), ("x", "1", "'/(/'")),
    "resource_group": (("x",), ("1", "[x]")),
    "parallel": (
        ("1", "200", "{matrix: [{A: [x, 1], B: y}]}"),
        (
            "0",
            "201",
            "1.5",
            "x",
            "{}",
            "{foo: 1}",
            "{matrix: x}",
            "{matrix: [x]}",
            "{matrix: [{}]}",
            "{matrix: [{A: {}}]}",
        ),
    ),
    "inherit": (
        ("{default: false, variables: [A]}", "{default: [image]}"),
        ("x", "{default: x}", "{default: [foo]}", "{variables: 1}", "{foo: true}"),
    ),
    "release": (
        (
            "{tag_name: v1, description: d, name: n, ref: main, milestones: [m], released_at: '2026-01-02T03:04:05Z',"
            " tag_message: t, assets: {links: [{name: a, url: 'http://x', filepath: /a, link_type: other}]}}",
        ),
        (
            "x",
            "{tag_name: v1}",
            "{tag_name: 1, description: d}",
            "{tag_name: v, description: d, milestones: 1}",
            "{tag_name: v, description: d, released_at: soon}",
            "{tag_name: v, description: d, assets: {}}",
            "{tag_name: v, description: d, assets: {links: [{name: a}]}}",
            "{tag_name: v, description: d, foo: 1}",
        ),
    ),
    "secrets": (("{A: {vault: a/b@c, file: false}}",), ("x", "{A: x}", "{A: {vault: 1}}", "{A: {foo: x}}")),
    "pages": (
        (
            "true",
            "{path_prefix: a, publish: b}",
            "{publish: ./a..b/c/, expire_in: 1 day}",
            "{expire_in: never}",
            "{expire_in: $DAYS days, publish: $FOLDER}",
        ),
        (
            "x",
            "1",
            "{foo: 1}",
            "{publish: 1}",
            "{publish: ../x}",
            "{publish: /etc}",
            "{publish: a/../../b}",
            "{publish: $FOLDER/..}",
            "{expire_in: bogus}",
            "{expire_in: -1 day}",
            "{expire_in: 0 seconds}",
            "{expire_in: 1}",
        ),
    ),
    "publish": (("public",), ("1", "[x]", "/etc", "../x")),
    "dast_configuration": (("{site_profile: a, scanner_profile: b}",), ("x", "{foo: x}")),
}

GLOBAL_VALUES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "before_script": (("x", "[x]"), ("1", "[1]")),
    "after_script": (("x", "[x]"), ("1", "[1]")),
    "image": (("x",), ("[x]", "1")),
    "services": (("[x]",), ("x", "[1]")),
    "cache": (("{paths: [a]}", "[{paths: [a]}]"), ("x", "{untracked: x}", "{policy: unknown}")),
    "default": (("{image: x, timeout: 1h, retry: 1}",), ("x", "{foo: 1}", "{image: [x]}", "{timeout: 1}")),
    "stages": (("[test]", "[test, [b, [c]]]"), ("test", "[1]", "{a: b}")),
    "types": (("[test]",), ("test", "[1]")),
    "variables": (
        ("{A: b}", "{A: {value: a, description: d, options: [a, b], expand: true}}"),
        ("x", "{A: [b]}", "{A: {value: c, options: [a, b]}}", "{A: {options: x}}", "{A: {foo: 1}}"),
    ),
    "workflow": (
        ("{name: n, rules: [{if: $A}, {when: always}], auto_cancel: {on_new_commit: none, on_job_failure: all}}",),
        (
            "x",
            "{foo: 1}",
            "{name: 1}",
            f"{{name: {'n' * 256}}}",
            "{rules: x}",
            "{rules: [{when: manual}]}",
            "{auto_cancel: {on_new_commit: x}}",
            "{auto_cancel: {on_job_failure: x}}",
        ),
    ),
    "include": (
        ("a.yml", "[a.yml]", "{local: a.yml}"),
        ("{local: 1}", "{foo: a.yml}", "{local: a.yml, rules: x}", "[1]"),
    ),
    "spec": ((), ()),
}

TRIGGER_VALUES = (
    ("a/b", "{project: a/b, branch: x, strategy: depend, inputs: {a: 1}}", "{include: a.yml, strategy: mirror}"),
    (
        "1",
        "[a/b]",
        "{branch: x}",
        "{project: 1}",
        "{project: a/b, strategy: wait}",
        "{project: a/b, inputs: x}",
        "{include: []}",
        "{include: 1}",
        "{include: [1]}",
        "{include: {local: a.yml}}",
        "{include: a.yml, branch: x}",
        "{project: a/b, forward: {yaml_variables: 1}}",
    ),
)
_FILES = RepositoryFiles({"a.yml": "included: {script: [x]}"})


def _text(keyword: str, value: str) -> str:
    script = "" if keyword == "script" else "  script: [x]\n"
    return f"other: {{stage: build, script: [x]}}\njob:\n{script}  {keyword}: {value}\n"


def _errors(text: str) -> tuple[str, ...]:
    try:
        read(text, _FILES)
    except ConfigError as error:
        return error.messages
    return ()


def test_the_table_has_every_keyword() -> None:
    assert {*JOB_VALUES, "trigger"} == JOB_KEYWORDS
    assert GLOBAL_VALUES.keys() == GLOBAL_KEYWORDS.keys()


@pytest.mark.parametrize("keyword", JOB_VALUES)
def test_values_of_jobs(keyword: str) -> None:
    accepted, refused = JOB_VALUES[keyword]
    assert {value: errors for value in accepted if (errors := _errors(_text(keyword, value)))} == {}
    for value in refused:
        errors = _errors(_text(keyword, value))
        assert errors, value
        assert all(error.startswith(("jobs:job", "retry ", "variable definition")) for error in errors), errors


@pytest.mark.parametrize("keyword", GLOBAL_VALUES)
def test_values_of_the_top_level(keyword: str) -> None:
    accepted, refused = GLOBAL_VALUES[keyword]
    jobs = "job: {script: [x]}"
    assert {value: errors for value in accepted if (errors := _errors(f"{keyword}: {value}\n{jobs}"))} == {}
    assert [value for value in refused if not _errors(f"{keyword}: {value}\n{jobs}")] == []


def test_values_of_trigger() -> None:
    accepted, refused = TRIGGER_VALUES
    assert {value: errors for value in accepted if (errors := _errors(f"job: {{trigger: {value}}}"))} == {}
    assert [value for value in refused if not _errors(f"job: {{trigger: {value}}}")] == []


def test_run_replaces_the_script() -> None:
    assert _errors("job: {run: [{name: a, script: x}]}") == ()
    assert _errors("job: {run: x}") == ("jobs:job run should be a array",)


def test_null_is_dropped_from_needs() -> None:
    specs = read(_text("needs", "[null, other]")).jobs
    assert [need.job for need in specs[1].needs or ()] == ["other"]
    assert only_job("job: {script: [x], needs: [null]}").needs == ()


@pytest.mark.parametrize(
    ("job", "messages"),
    [
        ("cache: {policy: x}", ["jobs:rspec:cache policy should be a variable or one of: pull-push, push, pull"]),
        ("cache: {key: 1}", ["jobs:rspec:cache:key should be a hash, a string or a symbol"]),
        ("cache: {untracked: x}", ["jobs:rspec:cache:untracked config should be a boolean value"]),
        ("artifacts: {expire_in: 1}", ["jobs:rspec:artifacts expire in should be a duration"]),
        ("allow_failure: x", ["jobs:rspec allow failure should be a hash or a boolean value"]),
        ("services: [1]", ["jobs:rspec:services:service config should be a hash or a string"]),
        ("parallel: x", ["jobs:rspec:parallel should be an integer or a hash"]),
        (
            "bad_tags: [x], rules: {}",
            [
                "jobs:rspec config contains unknown keys: bad_tags",
                "jobs:rspec rules should be an array containing hashes and arrays of hashes",
            ],
        ),
        ("tags: x", ["jobs:rspec:tags config should be an array of strings"]),
    ],
)
def test_messages_are_those_of_gitlab(job: str, messages: list[str]) -> None:
    assert list(_errors(f"RSpec: {{script: [x], {job}}}")) == messages
