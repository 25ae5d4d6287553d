"""Configurations made of several files and jobs: ``include``, ``extends``, ``!reference`` and inputs."""

from typing import Any

import pytest

from tests.ci.config.context import RepositoryFiles, errors, read

JOB = "job: {script: [x]}\n"


def _merged(text: str, texts: dict[str, str] | None = None, **facts: object) -> dict[str, Any]:
    return read(text, RepositoryFiles(texts or {}), **facts).merged


def test_the_file_has_precedence_over_its_includes() -> None:
    merged = _merged(
        "include: [a.yml, b.yml]\nvariables: {C: main}\njob: {script: [main]}",
        {
            "a.yml": "variables: {A: a, B: a, C: a}\njob: {script: [a], tags: [a], image: {name: a}}",
            "b.yml": "variables: {B: b}\njob: {image: {entrypoint: [b]}}",
        },
    )
    assert merged["variables"] == {"A": "a", "B": "b", "C": "main"}
    assert merged["job"] == {"script": ["main"], "tags": ["a"], "image": {"name": "a", "entrypoint": ["b"]}}
    assert "include" not in merged


@pytest.mark.parametrize(
    ("include", "jobs"),
    [
        ("a.yml", {"a"}),
        ("/a.yml", {"a"}),
        ("[a.yml, [{local: ci/b.yml}]]", {"a", "b"}),
        ("{local: ci/*.yml}", {"b", "c"}),
        ("{local: 'ci/**.yml'}", {"b", "c", "d"}),
        ("{local: 'ci/**/*.yml'}", {"b", "c", "d"}),
        ("{local: '{a,ci/b}.yml'}", {"a", "b"}),
        ("{local: $DIR/b.yml}", {"b"}),
        ("https://example.com/r.yml", {"r"}),
        ("{remote: 'https://example.com/r.yml'}", {"r"}),
        ("{template: T.gitlab-ci.yml}", {"t"}),
        ("{project: other/$NAME, file: x.yml}", {"x"}),
        ("{project: other/p, ref: v1, file: [/x.yml, y.yml]}", {"x1", "y1", "z1"}),
        ("{local: a.yml, rules: [{if: $DIR}]}", {"a"}),
        ("{local: a.yml, rules: [{if: $UNSET}]}", set()),
        ("{local: a.yml, rules: [{if: $DIR, when: never}]}", set()),
        ("{local: a.yml, rules: [{exists: [Dockerfile]}]}", {"a"}),
        ("[]", set()),
    ],
)
def test_kinds_of_includes(include: str, jobs: set[str]) -> None:
    def job(name: str) -> str:
        return f"{name}: {{script: [x]}}"

    files = RepositoryFiles(
        {
            "a.yml": job("a"),
            "ci/b.yml": job("b"),
            "ci/c.yml": job("c"),
            "ci/deep/d.yml": job("d"),
            "https://example.com/r.yml": job("r"),
            "T.gitlab-ci.yml": job("t"),
        },
        {
            "other/p": {"x.yml": job("x")},
            "other/p@v1": {"x.yml": job("x1"), "y.yml": "include: z.yml\n" + job("y1"), "z.yml": job("z1")},
        },
    )
    variables = {"DIR": "ci", "NAME": "p"}
    config = read(f"include: {include}\n{JOB}", files, variables=variables, paths=["Dockerfile"])
    assert {spec.name for spec in config.jobs} - {"job"} == jobs


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("1", "include config should be a hash"),
        ("{foo: x}", "include config contains unknown keys: foo"),
        ("{ref: x}", "include config should have exactly one of: local, project"),
        ("{local: a, remote: b}", "include config should have exactly one of: local, project"),
        ("{local: [a]}", "include local should be a string"),
        ("{project: x}", "include config must specify the file where to fetch the config from"),
        ("{local: a.yml, rules: x}", "include:rules config should be a array"),
        ("{local: a.yml, rules: [{if: '='}]}", "include:rules:rule if invalid expression syntax"),
        ("{local: a.yml, inputs: x}", "include inputs should be a hash"),
        ("nope.yml", "Local file `nope.yml` does not exist!"),
        ("broken.yml", "Included file `broken.yml`: Invalid configuration format"),
    ],
)
def test_invalid_includes(include: str, message: str) -> None:
    found = errors(f"include: {include}\n{JOB}", RepositoryFiles({"a.yml": JOB, "broken.yml": "a: ["}))
    assert found[0].startswith(message), found


def test_components_with_inputs() -> None:
    component = "spec: {inputs: {name: {}}}\n---\n'$[[ inputs.name ]]': {script: make}\n"
    config = read(
        "include: [{component: 'host/group/tools/c@1', inputs: {name: build}}]\n",
        RepositoryFiles({"host/group/tools/c@1": component}),
    )
    assert [job.name for job in config.jobs] == ["build"]


def test_loops_and_numbers_of_includes() -> None:
    loop = RepositoryFiles({"a.yml": "include: b.yml", "b.yml": "include: /a.yml"})
    assert errors("include: a.yml", loop) == ("Include `a.yml` was already included!",)
    many = RepositoryFiles({f"ci/{n}.yml": f"j{n}: {{script: [x]}}" for n in range(150)})
    assert len(read("include: ci/*.yml", many).jobs) == 150
    more = RepositoryFiles({**many.texts, "ci/last.yml": JOB})
    assert errors("include: ci/*.yml", more) == ("Maximum of 150 nested includes are allowed!",)
    twice = RepositoryFiles({"a.yml": JOB, "b.yml": "include: a.yml"})
    assert len(read("include: [a.yml, b.yml]", twice).jobs) == 1


def test_total_size_of_includes() -> None:
    large = "[&a [" + "x, " * 500 + "], " + "*a, " * 100 + "]"
    files = RepositoryFiles({f"ci/{n}.yml": f".h{n}: {large}" for n in range(10)})
    assert "too many values" in errors(f"include: ci/*.yml\n{JOB}", files)[0]


def test_anchors_do_not_cross_files() -> None:
    files = RepositoryFiles({"a.yml": ".base: &base {script: [x]}"})
    assert "undefined alias base" in errors("include: a.yml\njob: *base", files)[0]


def test_extends() -> None:
    merged = _merged("""
.a: {script: [a], tags: [a, b], variables: {A: a, B: a}, image: {name: a, entrypoint: [x]}}
.b: {extends: .a, variables: {B: b}, tags: [c]}
.c: {image: {name: c}, rules: [{when: always}]}
job: {extends: [.b, .c], variables: {C: c}}
child: {extends: job, rules: null}
""")
    assert merged["job"] == {
        "script": ["a"],
        "tags": ["c"],
        "variables": {"A": "a", "B": "b", "C": "c"},
        "image": {"name": "c", "entrypoint": ["x"]},
        "rules": [{"when": "always"}],
    }
    assert merged["child"]["rules"] is None


def test_depth_and_cycles_of_extends() -> None:
    chain = "j0: {script: [x]}\n" + "\n".join(f"j{n}: {{extends: j{n - 1}}}" for n in range(1, 11))
    assert len(read(chain).jobs) == 11
    reverse = "\n".join(f"j{n}: {{extends: j{n + 1}}}" for n in range(12)) + "\nj12: {script: [x]}"
    assert errors(reverse) == ("j0: nesting too deep in `extends`",)
    assert "circular dependency detected" in errors("a: {extends: b}\nb: {extends: a}")[0]
    assert "circular dependency detected" in errors("a: {extends: a}")[0]
    assert errors("a: {extends: image}\nimage: x") == ("a: invalid base hashes in `extends` (image)",)


def test_size_of_extends() -> None:
    """Many jobs that each extend a large one would take memory in proportion to the product."""
    large = ", ".join(f"A{n}: 1" for n in range(900))
    text = f".v: {{variables: {{{large}}}}}\n" + "\n".join(f"j{n}: {{extends: .v, script: [x]}}" for n in range(1500))
    assert "too many values" in errors(text)[0]


def test_references() -> None:
    merged = _merged("""
.setup:
  script: [one, two]
  variables: {URL: x}
.rules: {rules: [{if: $A}, {when: manual}]}
.child: {extends: .setup}
job:
  script:
    - !reference [.setup, script]
    - !reference [.child, script]
    - own
  rules:
    - !reference [.rules, rules]
    - when: never
  variables:
    URL: !reference [.setup, variables, URL]
  after_script: !reference [.setup, script]
""")
    assert merged["job"] == {
        "script": [["one", "two"], ["one", "two"], "own"],
        "rules": [[{"if": "$A"}, {"when": "manual"}], {"when": "never"}],
        "variables": {"URL": "x"},
        "after_script": ["one", "two"],
    }
    assert read("j: {script: [!reference [.a, s], z]}\n.a: {s: [x, [y]]}").jobs[0].script == ("x", "y", "z")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {script: !reference [.x, script]}", '!reference [".x","script"] could not be found'),
        ("a: {script: !reference [a, script]}", '!reference ["a","script"] is part of a circular chain'),
        ("a: {script: !reference [b, script]}\nb: {script: [!reference [a, script]]}", "is part of a circular chain"),
        (
            "\n".join(f"a{n}: {{script: !reference [a{n + 1}, script]}}" for n in range(12)) + "\na12: {script: [x]}",
            "is nested too deeply",
        ),
        (
            ".a0: {s: [" + "x, " * 99 + "]}\n"
            + "\n".join(f".a{n}: {{s: [{', '.join([f'!reference [.a{n - 1}, s]'] * 20)}]}}" for n in range(1, 8))
            + "\njob: {script: !reference [.a7, s]}",
            "too many values",
        ),
    ],
)  # fmt: skip
def test_invalid_references(text: str, message: str) -> None:
    assert message in errors(text)[0]


COMPONENT = """
spec:
  inputs:
    stage: {default: test}
    name:
    level: {type: number, default: 3}
    fast: {type: boolean, default: false}
    tags: {type: array, default: [a]}
    kinds: {type: array, options: [p, q], default: [p, q]}
    mode: {options: [x, y], default: x}
    version: {regex: '^v\\d+$', default: v1}
---
"$[[ inputs.name ]]-job":
  stage: $[[ inputs.stage ]]
  tags: $[[ inputs.tags ]]
  retry: {max: 2}
  interruptible: $[[ inputs.fast ]]
  script:
    - run $[[ inputs.name | truncate(0,3) ]] $[[inputs.level]] $[[ inputs.fast ]] $[[ inputs.mode ]]
    - echo $[[ inputs.name | expand_vars | posix_escape ]]
"""


def test_inputs() -> None:
    files = RepositoryFiles({"c.yml": COMPONENT})
    inputs = "{name: build $X, stage: deploy, tags: [b, c], fast: true}"
    job = read(f"include: {{local: c.yml, inputs: {inputs}}}", files, variables={"X": "y"}).jobs[0]
    assert (job.name, job.stage, job.tags, job.interruptible) == ("build $X-job", "deploy", ("b", "c"), True)
    assert job.script == ("run bui 3 true x", "echo build\\ y")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("{}", "`name` input: required value has not been provided"),
        ("{name: [1]}", "`name` input: provided value is not a string"),
        ("{name: a, level: x}", "`level` input: provided value is not a number"),
        ("{name: a, fast: 1}", "`fast` input: provided value is not a boolean"),
        ("{name: a, kinds: [p, r]}", "`kinds` input: `['p', 'r']` cannot be used because it is not in the list of"),
        ("{name: a, tags: x}", "`tags` input: provided value is not an array"),
        ("{name: a, mode: z}", "`mode` input: `z` cannot be used because it is not in the list of allowed options"),
        ("{name: a, version: x}", "`version` input: provided value does not match required RegEx pattern"),
        ("{name: a, foo: x}", "unknown input arguments: foo"),
    ],
)
def test_invalid_inputs(inputs: str, message: str) -> None:
    found = errors(f"include: {{local: c.yml, inputs: {inputs}}}", RepositoryFiles({"c.yml": COMPONENT}))
    assert found[0].startswith(f"Included file `c.yml`: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$[[ inputs.nope ]]", "unknown input name provided: `nope`"),
        ("$[[ inputs.a | shout ]]", "no function matching `shout`"),
        ("$[[ inputs.a | truncate(0,1) | truncate(0,1) | truncate(0,1) | truncate(0,1) ]]", "too many functions"),
    ],
)
def test_invalid_interpolation(text: str, message: str) -> None:
    assert message in errors(f"spec: {{inputs: {{a: {{default: x}}}}}}\n---\njob: {{script: ['{text}']}}")[0]


def test_hostile_interpolation() -> None:
    """Unfinished blocks take linear time, and a long input is not inserted without limit."""
    text = "x $[[ inputs.a |  | |" * 50_000
    assert read(f"spec: {{inputs: {{a: {{default: x}}}}}}\n---\njob: {{script: ['{text}']}}").jobs[0].script == (text,)
    value = "v" * 100_000
    many = ", ".join(["'$[[ inputs.a ]]!'"] * 1000)
    assert "too big" in errors(f"spec: {{inputs: {{a: {{default: {value}}}}}}}\n---\njob: {{script: [{many}]}}")[0]
