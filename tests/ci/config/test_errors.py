"""Validation messages: each names the job and the key."""

import pytest

from ingot.ci.config.compiler import MAX_JOBS, MAX_PIPELINE_JOBS, read_config
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.yaml_loader import ConfigLimits
from tests.ci.config.context import PipelineFacts, RepositoryFiles, errors, plan


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("script: 1", "jobs:job:script config should be a string or a nested array of strings up to 10 levels deep"),
        ("script: [1]", "jobs:job:script config should be a string or a nested array of strings up to 10 levels deep"),
        (
            "script: " + "[" * 12 + "a" + "]" * 12,
            "jobs:job:script config should be a string or a nested array of strings up to 10 levels deep",
        ),
        ("image: x", "jobs job config should implement the script:, run:, or trigger: keyword"),
        ("script: []", "jobs:job script can't be blank"),
        ("script: [x]\n  trigger: y", "jobs:job config these keys cannot be used together: script, trigger"),
        ("trigger: [a]", "jobs:job:trigger has to be either a string or a hash"),
        ("trigger: {branch: x}", "jobs:job:trigger project should be a string"),
        ("trigger: {project: x, strategy: wait}", "jobs:job:trigger strategy should be depend or mirror"),
        ("trigger: {include: x, branch: y}", "jobs:job:trigger config contains unknown keys: branch"),
        ("trigger: {include: [a, b, c, d]}", "jobs:job:trigger:include config is too long (maximum is 3)"),
        ("trigger: {include: []}", "jobs:job:trigger:include config can't be blank"),
        (
            "trigger: {include: [{artifact: x}]}",
            "jobs:job:trigger:include:include config must specify the job where to fetch the artifact from",
        ),
        ("trigger: {include: [{foo: x}]}", "jobs:job:trigger:include:include config contains unknown keys: foo"),
        ("trigger: {project: x, forward: {a: 1}}", "jobs:job:trigger:forward config contains unknown keys: a"),
        ("trigger: x\n  image: y\n  retry: 1", "jobs:job config contains unknown keys: image, retry"),
        ("trigger: x\n  when: delayed\n  start_in: 1 day", "jobs:job config contains unknown keys: start_in"),
        ("trigger: x\n  parallel: 2", 'jobs:job:parallel config cannot use "parallel: <number>".'),
        ("script: [x]\n  tags: [" + "a, " * 51 + "]", "jobs:job:tags config must be less than the limit of 50 tags"),
        ("script: [x]\n  id_tokens: [A]", "jobs:job:id_tokens config should be a hash"),
        ("script: [x]\n  id_tokens: {A: {}}", "jobs:job:id_tokens:a config missing required keys: aud"),
        (
            "script: [x]\n  id_tokens: {A: {aud: 1}}",
            "jobs:job:id_tokens:a aud should be an array of strings or a string",
        ),
        ("script: [x]\n  release: v1", "jobs:job:release config should be a hash"),
        ("script: [x]\n  release: {tag_name: v1}", "jobs:job:release description should be a string"),
        (
            "script: [x]\n  release: {tag_name: v1, description: d, released_at: soon}",
            "jobs:job:release released at must be a valid datetime",
        ),
        (
            "script: [x]\n  release: {tag_name: v1, description: d, assets: {links: [{name: a}]}}",
            "jobs:job:release:assets:links:link url should be a string",
        ),
        ("script: [x]\n  foo: 1\n  bar: 2", "jobs:job config contains unknown keys: foo, bar"),
        ("script: [x]\n  before_script: {a: 1}", "jobs:job:before_script config should be a string or a nested array"),
        ("script: [x]\n  image: [a]", "jobs:job:image config should be a hash or a string"),
        ("script: [x]\n  image: {entrypoint: x}", "jobs:job:image name should be a string"),
        ("script: [x]\n  image: {name: x, foo: 1}", "jobs:job:image config contains unknown keys: foo"),
        ("script: [x]\n  services: x", "jobs:job:services config should be a array"),
        ("script: [x]\n  services: [1]", "jobs:job:services:service config should be a hash or a string"),
        ("script: [x]\n  tags: x", "jobs:job:tags config should be an array of strings"),
        ("script: [x]\n  stage: 1", "jobs:job:stage config should be a string"),
        ("script: [x]\n  stage: nope", "job job: chosen stage nope does not exist; available stages are .pre, build,"),
        (
            "script: [x]\n  when: soon",
            "jobs:job when should be one of: on_success, on_failure, always, manual, delayed",
        ),
        ("script: [x]\n  when: delayed", "jobs:job start in should be a duration"),
        ("script: [x]\n  start_in: 1 day", "jobs:job start in must be blank"),
        (
            "script: [x]\n  when: delayed\n  start_in: 8 days",
            "jobs:job start in should not exceed the limit",
        ),
        ("script: [x]\n  allow_failure: maybe", "jobs:job allow failure should be a hash or a boolean value"),
        (
            "script: [x]\n  allow_failure: {exit_codes: [a]}",
            "jobs:job:allow_failure exit codes should be an array of integers or an integer",
        ),
        ("script: [x]\n  variables: [a]", "jobs:job:variables config should be a hash"),
        ("script: [x]\n  variables: {A: [1]}", "variable definition must be either a string or a hash"),
        (
            "script: [x]\n  variables: {A: {value: x, options: [y]}}",
            "jobs:job:variables:a config uses invalid data keys: options",
        ),
        ("script: [x]\n  only: 1", "jobs:job:only has to be either an array of conditions or a hash"),
        ("script: [x]\n  only: [1]", "jobs:job:only config should be an array of strings or regular expressions"),
        ("script: [x]\n  except: ['/(/']", "jobs:job:except config should be an array of strings or regular"),
        (
            "script: [x]\n  only: {refs: ['/a(?=b)/']}",
            "jobs:job:only refs should be an array of strings or regular expressions using re2 syntax",
        ),
        ("script: [x]\n  only: {variables: ['$A =']}", "jobs:job:only variables invalid expression syntax"),
        ("script: [x]\n  only: {changes: x}", "jobs:job:only changes should be an array of strings"),
        ("script: [x]\n  only: {foo: x}", "jobs:job:only config contains unknown keys: foo"),
        ("script: [x]\n  rules: x", "jobs:job rules should be an array containing hashes and arrays of hashes"),
        ("script: [x]\n  rules: [x]", "jobs:job rules should be an array containing hashes and arrays of hashes"),
        ("script: [x]\n  rules: [{if: '$A ='}]", "jobs:job:rules:rule if invalid expression syntax"),
        ("script: [x]\n  rules: [{when: soon}]", "jobs:job:rules:rule when unknown value: soon"),
        ("script: [x]\n  rules: [{when: delayed}]", "jobs:job:rules:rule start in can't be blank"),
        ("script: [x]\n  rules: [{foo: 1}]", "jobs:job:rules:rule config contains unknown keys: foo"),
        ("script: [x]\n  rules: [{changes: 1}]", "jobs:job:rules:rule:changes should be an array or a hash"),
        (
            "script: [x]\n  rules: [{changes: {compare_to: x}}]",
            "jobs:job:rules:rule:changes config missing required keys: paths",
        ),
        ("script: [x]\n  rules: [{exists: {foo: x}}]", "jobs:job:rules:rule:exists config contains unknown keys: foo"),
        (
            f"script: [x]\n  rules: [{{changes: {[str(n) for n in range(51)]}}}]",
            "jobs:job:rules:rule:changes config has too many entries (maximum 50)",
        ),
        (
            "script: [x]\n  rules: [{when: always}]\n  only: [a]",
            "jobs:job config key may not be used with `rules`: only",
        ),
        (
            "script: [x]\n  rules: [{when: always}]\n  except: [a]",
            "jobs:job config key may not be used with `rules`: except",
        ),
        ("script: [x]\n  environment: 1", "jobs:job:environment config should be a hash or a string"),
        (
            "script: [x]\n  environment: {url: x}",
            "jobs:job:environment name can contain only letters, digits, '-', '_'",
        ),
        (
            "script: [x]\n  environment: 'a:b'",
            "jobs:job:environment name can contain only letters, digits, '-', '_'",
        ),
        (
            "script: [x]\n  environment: {name: a, action: fly}",
            "jobs:job:environment action should be start, stop, prepare, verify, or access",
        ),
        ("script: [x]\n  environment: {name: a, on_stop: s}", "job job: on_stop job s is not defined"),
        ("script: [x]\n  artifacts: x", "jobs:job:artifacts config should be a hash"),
        ("script: [x]\n  artifacts: {paths: x}", "jobs:job:artifacts paths should be an array of strings"),
        ("script: [x]\n  artifacts: {name: 1}", "jobs:job:artifacts name should be a string"),
        (
            "script: [x]\n  artifacts: {when: x}",
            "jobs:job:artifacts when should be one of: on_success, on_failure, always",
        ),
        ("script: [x]\n  artifacts: {expire_in: soon}", "jobs:job:artifacts expire in should be a duration"),
        ("script: [x]\n  artifacts: {untracked: 1}", "jobs:job:artifacts untracked should be a boolean value"),
        (
            "script: [x]\n  artifacts: {reports: {foo: x}}",
            "jobs:job:artifacts:reports config contains unknown keys: foo",
        ),
        ("script: [x]\n  cache: x", "jobs:job:caches config can only be a hash or an array"),
        ("script: [x]\n  cache: {paths: x}", "jobs:job:cache:paths config should be an array of strings"),
        ("script: [x]\n  cache: {key: [x]}", "jobs:job:cache:key should be a hash, a string or a symbol"),
        ("script: [x]\n  cache: {key: {prefix: x}}", "jobs:job:cache:key config missing required keys: files"),
        ("script: [x]\n  cache: {foo: x}", "jobs:job:cache config contains unknown keys: foo"),
        ("script: [x]\n  dependencies: x", "jobs:job dependencies should be an array of strings"),
        ("script: [x]\n  dependencies: [y]", "job job: undefined dependency: y"),
        ("script: [x]\n  needs: x", "jobs:job:needs config can only be a hash or an array"),
        ("script: [x]\n  needs: [1]", "jobs:job:needs:need has an unsupported type"),
        ("script: [x]\n  needs: [y]", "job job: undefined need: y"),
        ("script: [x]\n  needs: [job]", "The pipeline has circular dependencies: job"),
        ("script: [x]\n  needs: [other, other]", "job has the following needs duplicated: other."),
        ("script: [x]\n  needs: [last]", "job job: need last is not defined in current or prior stages"),
        ("script: [x]\n  rules: [{needs: [last]}]", "job job: need last is not defined in current or prior stages"),
        ("script: [x]\n  dependencies: [last]", "job job: dependency last is not defined in current or prior stages"),
        (
            "script: [x]\n  needs: [other]\n  dependencies: [first]",
            "jobs:job dependencies the first should be part of needs",
        ),
        (
            f"script: [x]\n  needs: {[f'n{n}' for n in range(51)]}",
            "job: one job can only need 50 others, but you have listed 51.",
        ),
        ("script: [x]\n  coverage: x", "jobs:job:coverage config must be a regular expression"),
        (
            "script: [x]\n  artifacts: {paths: [x], expose_as: 'a/b'}",
            "jobs:job:artifacts expose as can contain only letters, digits, '-', '_' and spaces",
        ),
        ("script: [x]\n  retry: 3", "retry config must be less than or equal to 2"),
        ("script: [x]\n  retry: x", "retry config has to be either an integer or a hash"),
        ("script: [x]\n  retry: {when: never}", "retry when is not included in the list"),
        ("script: [x]\n  timeout: long", "jobs:job:timeout config should be a duration"),
        ("script: [x]\n  interruptible: 1", "jobs:job:interruptible config should be a boolean value"),
        ("script: [x]\n  resource_group: [1]", "jobs:job resource group should be a string"),
        ("script: [x]\n  parallel: 0", "jobs:job:parallel config must be greater than or equal to 1"),
        ("script: [x]\n  parallel: 201", "jobs:job:parallel config must be less than or equal to 200"),
        ("script: [x]\n  parallel: {matrix: []}", "jobs:job:parallel:matrix config should be an array of hashes"),
        (
            "script: [x]\n  parallel: {matrix: [{A: []}]}",
            "jobs:job:parallel:matrix:variables config should be a hash of key value pairs, value can be an array",
        ),
        (
            "script: [x]\n  parallel: {matrix: [{A: &a " + str(list(range(1000))) + ", B: *a, C: *a, D: *a}]}",
            "jobs:job:parallel:matrix config generates too many jobs (maximum is 200)",
        ),
        (
            "script: [x]\n  inherit: {default: x}",
            "jobs:job:inherit:default should be a bool or array of strings",
        ),
        ("script: [x]\n  extends: nope", "job: unknown keys in `extends` (nope)"),
        ("script: [x]\n  extends: [1]", "jobs:job:extends config should be an array of strings or a string"),
    ],
)
def test_job_errors(job: str, message: str) -> None:
    others = "first: {stage: build, script: [x]}\nother: {script: [x]}\nlast: {stage: deploy, script: [x]}\n"
    found = errors(f"{others}job:\n  {job}\n")
    assert any(each.startswith(message) for each in found), found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "jobs config should contain at least one visible job"),
        (".a: {script: [x]}", "jobs config should contain at least one visible job"),
        ("- a", "Invalid configuration format"),
        ("just text", "Invalid configuration format"),
        ("job: x", "jobs job config should implement the script:, run:, or trigger: keyword"),
        ("10: {script: [x]}", "jobs:10 name should be a symbol"),
        ("'': {script: [x]}", "jobs:job name can't be blank"),
        (f"{'n' * 256}: {{script: [x]}}", f"jobs:{'n' * 256} name is too long (maximum is 255 characters)"),
        ("stages: x\na: {script: [x]}", "stages config should be an array of strings or a nested array of strings"),
        ("stages: [1]\na: {script: [x]}", "stages config should be an array of strings or a nested array of strings"),
        ("variables: x\na: {script: [x]}", "variables config should be a hash"),
        ("image: [x]\na: {script: [x]}", "image config should be a hash or a string"),
        ("default: {foo: 1}\na: {script: [x]}", "default config contains unknown keys: foo"),
        ("default: {image: x}\nimage: y\na: {script: [x]}", "image is defined in top-level and `default:` entry"),
        ("workflow: {foo: 1}\na: {script: [x]}", "workflow config contains unknown keys: foo"),
        ("workflow: {rules: [{when: manual}]}\na: {script: [x]}", "workflow:rules:rule when unknown value: manual"),
        (
            "workflow: {auto_cancel: {on_new_commit: x}}\na: {script: [x]}",
            "workflow:auto_cancel on new commit must be one of: conservative, interruptible, none",
        ),
        (
            "variables: {" + ", ".join(f"A{n}: 1" for n in range(1001)) + "}\na: {script: [x]}",
            "variables config has more",
        ),
    ],
)
def test_errors_of_the_file(text: str, message: str) -> None:
    found = errors(text)
    assert any(each.startswith(message) for each in found), found


def test_all_errors_are_reported_up_to_a_limit() -> None:
    assert len(errors("a: {image: x}\nb: {script: [1]}\nimage: [x]")) == 3
    assert len(errors("\n".join(f"j{n}: {{foo: 1}}" for n in range(200)))) == 50


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ("script: [x]", "start job: on_stop job stop does not have environment defined"),
        (
            "script: [x]\n  environment: {name: b, action: stop}",
            "start job: on_stop job stop have different environment name",
        ),
        ("script: [x]\n  environment: {name: a}", "start job: on_stop job stop needs to have action stop defined"),
    ],
)
def test_on_stop(stop: str, message: str) -> None:
    text = "start:\n  script: [x]\n  environment: {name: a, on_stop: stop}\nstop:\n  "
    assert errors(text + stop) == (message,)
    assert list(plan(text + "script: [x]\n  environment: {name: a, action: stop}")) == ["start", "stop"]


def test_number_of_jobs() -> None:
    """The copies are counted while they are made, so a small file cannot demand millions of them."""
    text = "\n".join(f"j{n}: {{script: [x], parallel: 200}}" for n in range(5000))
    assert errors(text) == (f"The configuration has more than {MAX_JOBS} jobs",)
    jobs = [f"j{n}: {{script: [x], parallel: 200, rules: [{{if: $A == '{n}'}}]}}" for n in range(MAX_JOBS // 200)]
    assert plan("\n".join(jobs)) == {}
    chosen = "\n".join(jobs).replace("==", "!=")
    with pytest.raises(ConfigError) as raised:
        plan(chosen)
    assert raised.value.messages == (f"The pipeline has more than {MAX_PIPELINE_JOBS} jobs",)


def test_cycle_of_needs() -> None:
    text = "a: {script: [x], needs: [b]}\nb: {script: [x], needs: [c]}\nc: {script: [x], needs: [a]}"
    assert errors(text)[0].startswith("The pipeline has circular dependencies: ")
    by_rules = "a: {script: [x], needs: [b]}\nb: {script: [x], rules: [{when: always, needs: [a]}]}"
    with pytest.raises(ConfigError, match="circular dependencies"):
        plan(by_rules)


def test_the_limit_of_needs_is_a_setting() -> None:
    text = "a: {script: [x]}\nb: {script: [x]}\njob: {stage: deploy, script: [x], needs: [a, b]}"
    assert read_config(text, RepositoryFiles(), PipelineFacts(), limits=ConfigLimits(needs=2)).jobs
    with pytest.raises(ConfigError, match=r"job: one job can only need 1 others, but you have listed 2\."):
        read_config(text, RepositoryFiles(), PipelineFacts(), limits=ConfigLimits(needs=1))
