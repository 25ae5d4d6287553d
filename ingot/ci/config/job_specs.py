"""Conversion of validated jobs to structs, with defaults applied and ``parallel`` expanded."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, cast

import msgspec

from ingot.ci.config.checks import flatten
from ingot.ci.config.durations import parse_duration
from ingot.ci.config.keywords import DEFAULT_KEYWORDS
from ingot.ci.config.need_checks import upstream_project
from ingot.ci.config.plan import (
    AncestorNeed,
    ConfigVariable,
    EnvironmentTier,
    JobEnvironment,
    JobSpec,
    Need,
    ProjectNeed,
    RefPolicy,
    Retry,
    Rule,
    SiteSpec,
    TriggerSpec,
)

DEFAULT_VAULT_ENGINE = "kv-v2"
"""Type of the secrets engine of Vault, and its path, unless the configuration says otherwise."""
PAGES_JOB = "pages"
"""Name of the job that publishes a static site without a keyword."""
_MATRIX_VALUE = re.compile(r"\$\[\[ *matrix\.([\w-]+) *\]\]")


def config_variables(value: Mapping[str, Any] | None) -> dict[str, ConfigVariable]:
    """Convert ``variables``; null stands for an empty value."""
    return {str(name): _variable(each) for name, each in (value or {}).items()}


def _variable(value: Any) -> ConfigVariable:
    if not isinstance(value, dict):
        return ConfigVariable(_text(value))
    options = tuple(_text(each) for each in value.get("options") or ())
    return ConfigVariable(_text(value.get("value")), value.get("expand") is False, value.get("description"), options)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _lines(value: Any) -> tuple[str, ...]:
    return tuple(flatten(value) or ()) if value is not None else ()


def _integers(value: Any) -> tuple[int, ...]:
    return () if value is None else (value,) if isinstance(value, int) else tuple(value)


def _image(value: Any) -> dict[str, Any] | None:
    return {"name": value} if isinstance(value, str) else value


def config_rules(value: Any) -> tuple[Rule, ...] | None:
    """Convert ``rules`` of a job or workflow."""
    return None if value is None else tuple(_rule(each) for each in flatten(value) or ())


def _rule(rule: Mapping[str, Any]) -> Rule:
    changes, exists, failure = rule.get("changes"), rule.get("exists"), rule.get("allow_failure")
    auto_cancel = rule.get("auto_cancel") or {}
    elsewhere = exists if isinstance(exists, dict) else {}
    return Rule(
        condition=rule.get("if"),
        changes=_paths(changes),
        compare_to=changes.get("compare_to") if isinstance(changes, dict) else None,
        exists=_paths(exists),
        exists_project=elsewhere.get("project"),
        exists_ref=elsewhere.get("ref"),
        when=rule.get("when"),
        start_in=_seconds(rule.get("start_in")),
        allow_failure=failure if isinstance(failure, bool) else None,
        variables=config_variables(rule.get("variables")),
        needs=_needs(rule.get("needs")),
        interruptible=rule.get("interruptible"),
        on_new_commit=auto_cancel.get("on_new_commit"),
        on_job_failure=auto_cancel.get("on_job_failure"),
    )


def _paths(value: Any) -> tuple[str, ...] | None:
    paths = value.get("paths") if isinstance(value, dict) else value
    return None if paths is None else tuple(str(path) for path in paths)


def _seconds(value: Any) -> int | None:
    return None if value is None else parse_duration(value)


def _needs(value: Any) -> tuple[Need, ...] | None:
    if value is None:
        return None
    entries = value if isinstance(value, list) else [value]
    needs = []
    for entry in flatten(entries) or ():
        if isinstance(entry, str):
            needs.append(Need(entry))
        elif entry is not None and entry.get("job") and not entry.get("project") and not entry.get("pipeline"):
            names = _matrix_names(entry["job"], entry.get("parallel"))
            artifacts, optional = entry.get("artifacts") is not False, entry.get("optional") is True
            needs += [Need(name, artifacts, optional) for name in names]
    return tuple(needs)


def _ancestor_needs(value: Any) -> tuple[AncestorNeed, ...]:
    """Return the needed jobs of parent pipelines."""
    entries = flatten(value if isinstance(value, list) else [value]) or ()
    return tuple(
        AncestorNeed(entry["pipeline"], entry["job"])
        for entry in entries
        if isinstance(entry, dict)
        and entry.get("pipeline")
        and entry.get("job")
        and entry.get("artifacts") is not False
    )


def _project_needs(value: Any) -> tuple[ProjectNeed, ...]:
    """Return the needed jobs of other projects."""
    entries = flatten(value if isinstance(value, list) else [value]) or ()
    return tuple(
        ProjectNeed(entry["project"], entry["job"], entry["ref"])
        for entry in entries
        if isinstance(entry, dict) and entry.get("project") and entry.get("artifacts") is not False
    )


def _secret(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a secret with the short form of ``vault`` (``path/field@engine``) written in full."""
    vault = value.get("vault")
    if not isinstance(vault, str):
        return dict(value)
    place, _, engine = vault.rpartition("@") if "@" in vault else (vault, "", DEFAULT_VAULT_ENGINE)
    path, _, field = place.rpartition("/")
    return {**value, "vault": {"engine": {"name": DEFAULT_VAULT_ENGINE, "path": engine}, "path": path, "field": field}}


def _matrix_names(job: str, parallel: Any) -> list[str]:
    matrix = parallel.get("matrix") if isinstance(parallel, dict) else None
    return [f"{job}: [{', '.join(values.values())}]" for values in _matrix_values(matrix)] if matrix else [job]


def _matrix_values(matrix: list[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    """Yield the variables of every combination, in the order of the file."""
    for entry in matrix:
        choices = [[_text(each) for each in (flatten(value) or ())] for value in entry.values()]
        for combination in product(*choices):
            yield dict(zip(entry, combination, strict=True))


def _with_matrix_values(needs: tuple[Need, ...] | None, values: Mapping[str, str]) -> tuple[Need, ...] | None:
    """Replace ``$[[ matrix.NAME ]]`` in the names of needed jobs by the values of a copy."""
    if needs is None or not any("$[[" in need.job for need in needs):
        return needs
    return tuple(
        msgspec.structs.replace(need, job=_MATRIX_VALUE.sub(lambda match: values.get(match[1], match[0]), need.job))
        for need in needs
    )


def _policy(value: Any) -> RefPolicy | None:
    if value is None:
        return None
    if isinstance(value, str | list):
        return RefPolicy(tuple([value] if isinstance(value, str) else value))

    def entries(key: str) -> tuple[str, ...] | None:
        return None if value.get(key) is None else tuple(flatten(value[key]) or ())

    return RefPolicy(entries("refs"), entries("variables"), entries("changes"), value.get("kubernetes") is not None)


def _environment(value: Any) -> JobEnvironment | None:
    if value is None:
        return None
    if isinstance(value, str):
        return JobEnvironment(value)
    stop_in, tier = value.get("auto_stop_in"), value.get("deployment_tier")
    return JobEnvironment(
        value["name"],
        value.get("url"),
        value.get("action", "start"),
        value.get("on_stop"),
        None if stop_in is None else str(stop_in),
        cast("EnvironmentTier | None", tier and tier.lower()),
    )


def _retry(value: Any) -> Retry:
    if isinstance(value, dict):
        codes = _integers(value.get("exit_codes"))
        reasons = value.get("when") or (() if codes else "always")
        return Retry(value.get("max") or 0, (reasons,) if isinstance(reasons, str) else tuple(reasons), codes)
    return Retry(value or 0)


def _trigger(value: Any) -> TriggerSpec | None:
    if value is None:
        return None
    if isinstance(value, str):
        return TriggerSpec(project=value)
    forward, include = value.get("forward") or {}, value.get("include")
    return TriggerSpec(
        project=value.get("project"),
        branch=value.get("branch"),
        include=() if include is None else tuple(flatten(include) or ()),
        inputs=value.get("inputs") or {},
        depend=value.get("strategy") is not None,
        yaml_variables=forward.get("yaml_variables") is not False,
        pipeline_variables=forward.get("pipeline_variables") is True,
    )


def _site(name: str, job: Mapping[str, Any]) -> SiteSpec | None:
    """Return the site that a job publishes: one that is named ``pages``, or that has the keyword."""
    value = job.get("pages", name == PAGES_JOB)
    if value is False or job.get("trigger") is not None:
        return None
    options = value if isinstance(value, dict) else {}
    return SiteSpec(
        options.get("publish") or job.get("publish") or "public",
        options.get("path_prefix") or "",
        options.get("expire_in"),
    )


def _artifacts(artifacts: dict[str, Any], site: SiteSpec | None) -> dict[str, Any]:
    """Return the artifacts of a job with the folder of the site that it publishes."""
    paths = list(flatten(artifacts.get("paths") or []) or ())
    if site is None or any(path.strip("/") == site.publish.strip("/") for path in paths if isinstance(path, str)):
        return artifacts
    return {**artifacts, "paths": [*paths, site.publish]}


def _audience(value: Any) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else tuple(value)


def _with_defaults(job: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    inherited = (job.get("inherit") or {}).get("default", True)
    chosen = DEFAULT_KEYWORDS.keys() if inherited is True else set(inherited or ())
    own = {key: value for key, value in job.items() if value is not None}
    return {**{key: value for key, value in defaults.items() if key in chosen}, **own}


def _inherited_names(job: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names of the top-level variables that a job inherits; None for all."""
    inherited = (job.get("inherit") or {}).get("variables", True)
    return None if inherited is True or inherited is None else frozenset(inherited or ())


def _job_variables(job: Mapping[str, Any], variables: dict[str, ConfigVariable]) -> dict[str, ConfigVariable]:
    """Return inherited and own variables; jobs without own ones share the mapping of the file."""
    names, own = _inherited_names(job), job.get("variables")
    inherited = variables if names is None else {name: each for name, each in variables.items() if name in names}
    return {**inherited, **config_variables(own)} if own else inherited


def job_specs(
    name: str, job: Mapping[str, Any], defaults: Mapping[str, Any], variables: dict[str, ConfigVariable]
) -> Iterator[JobSpec]:
    """Yield the job, or its copies if it has ``parallel``."""
    job = _with_defaults(job, defaults)
    failure = job.get("allow_failure")
    cache = job.get("cache") or []
    site = _site(name, job)
    spec = JobSpec(
        name=name,
        base_name=name,
        stage=job.get("stage") or job.get("type") or "test",
        before_script=_lines(job.get("before_script")),
        script=_lines(job.get("script")),
        after_script=_lines(job.get("after_script")),
        image=_image(job.get("image")),
        services=tuple(_image(service) or {} for service in flatten(job.get("services") or []) or ()),
        variables=_job_variables(job, variables),
        tags=tuple(job.get("tags") or ()),
        when=job.get("when") or "on_success",
        start_in=_seconds(job.get("start_in")),
        allow_failure=failure if isinstance(failure, bool) else None,
        allow_failure_exit_codes=_integers(failure.get("exit_codes")) if isinstance(failure, dict) else (),
        rules=config_rules(job.get("rules")),
        only=_policy(job.get("only")),
        excluded=_policy(job.get("except")),
        environment=_environment(job.get("environment")),
        artifacts=_artifacts(job.get("artifacts") or {}, site),
        cache=tuple(flatten(cache) or ()),
        dependencies=None if job.get("dependencies") is None else tuple(job["dependencies"]),
        needs=_needs(job.get("needs")),
        coverage=job.get("coverage"),
        retry=_retry(job.get("retry")),
        timeout=_seconds(job.get("timeout")),
        interruptible=bool(job.get("interruptible")),
        resource_group=job.get("resource_group"),
        trigger=_trigger(job.get("trigger")),
        ancestor_needs=_ancestor_needs(job.get("needs")),
        project_needs=_project_needs(job.get("needs")),
        upstream=upstream_project(job.get("needs")) if job.get("trigger") is None else None,
        secrets={name: _secret(secret) for name, secret in (job.get("secrets") or {}).items()},
        id_tokens={name: _audience(token["aud"]) for name, token in (job.get("id_tokens") or {}).items()},
        release=job.get("release"),
        site=site,
        own_variables=frozenset(map(str, job.get("variables") or ())),
        inherited_variables=_inherited_names(job),
    )
    yield from _copies(spec, job.get("parallel"))


def _copies(spec: JobSpec, parallel: Any) -> Iterator[JobSpec]:
    if parallel is None:
        yield spec
    elif isinstance(parallel, int):
        for index in range(1, parallel + 1):
            yield msgspec.structs.replace(spec, name=f"{spec.name} {index}/{parallel}", node=(index, parallel))
    else:
        combinations = list(_matrix_values(parallel["matrix"]))
        for index, values in enumerate(combinations, 1):
            own = {name: ConfigVariable(value) for name, value in values.items()}
            yield msgspec.structs.replace(
                spec,
                name=f"{spec.name}: [{', '.join(values.values())}]",
                variables={**spec.variables, **own},
                own_variables=spec.own_variables | own.keys(),
                needs=_with_matrix_values(spec.needs, values),
                node=(index, len(combinations)),
            )
