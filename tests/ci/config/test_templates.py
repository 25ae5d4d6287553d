"""CI templates of the server: every name that GitLab has, valid alone and together."""

import pytest

from ingot.ci.config.compiler import plan_pipeline, read_config
from ingot.ci.config.plan import PipelineConfig
from ingot.ci.lint.standalone import StandaloneContext, StandaloneSource
from ingot.repositories.templates.queries import find_template, template_names
from tests.ci.config.context import PipelineFacts

NAMES = template_names("gitlab_ci_ymls")
STAGES = """
stages: [build, validate, test, provision, deploy, destroy, review, dast, fuzz, staging, canary, production,
  incremental rollout 10%, incremental rollout 25%, incremental rollout 50%, incremental rollout 100%, performance,
  cleanup]
"""
ONLY_PARTS = ("Katalon", "OpenTofu/Base", "Terraform/Base", "Terraform/Module-Base", "Workflows/")
"""Templates with hidden jobs to extend, or with rules only."""
OWN_JOB = "own job: {script: [make]}\n"
GITLAB_NAMES = """
5-Minute-Production-App AWS/CF-Provision-and-Deploy-EC2 AWS/Deploy-ECS Android Android-Fastlane Android.latest
Auto-DevOps Bash C++ Chef Clojure Code-Quality Composer Cosign Crystal Dart Deploy-ECS Diffblue-Cover Django
Docker Elixir Flutter Getting-Started Go Gradle Grails Indeni.Cloudrail Jobs/Browser-Performance-Testing
Jobs/Browser-Performance-Testing.latest Jobs/Build Jobs/Build.latest Jobs/CF-Provision Jobs/Code-Intelligence
Jobs/Code-Quality Jobs/Container-Scanning Jobs/Container-Scanning.latest Jobs/DAST-Default-Branch-Deploy
Jobs/Dependency-Scanning Jobs/Dependency-Scanning.latest Jobs/Deploy Jobs/Deploy.latest Jobs/Deploy/EC2
Jobs/Deploy/ECS Jobs/Helm-2to3 Jobs/Load-Performance-Testing Jobs/SAST Jobs/SAST-IaC Jobs/SAST-IaC.latest
Jobs/SAST.latest Jobs/Secret-Detection Jobs/Secret-Detection.latest Jobs/Test Julia Kaniko Katalon LaTeX
Laravel MATLAB Maven Mono Nodejs OpenShift OpenTofu.latest OpenTofu/Base.latest PHP Packer Pages/Brunch
Pages/Doxygen Pages/Gatsby Pages/HTML Pages/Harp Pages/Hexo Pages/Hugo Pages/Hyde Pages/JBake Pages/Jekyll
Pages/Jigsaw Pages/Lektor Pages/Metalsmith Pages/Middleman Pages/Nanoc Pages/Octopress Pages/Pelican
Pages/SwaggerUI Pages/Zola Python Qualys-IaC-Security Ruby Rust Scala Security/API-Discovery
Security/API-Fuzzing Security/API-Fuzzing.latest Security/API-Security Security/API-Security.latest
Security/BAS.latest Security/Container-Scanning Security/Container-Scanning.latest Security/Coverage-Fuzzing
Security/Coverage-Fuzzing.latest Security/DAST Security/DAST-API Security/DAST-API.latest
Security/DAST-On-Demand-API-Scan Security/DAST-On-Demand-Scan Security/DAST-Runner-Validation
Security/DAST.latest Security/Dependency-Scanning Security/Fortify-FoD-sast Security/SAST Security/SAST-IaC
Security/SAST-IaC.latest Security/Secret-Detection Security/Secure-Binaries Swift Terraform Terraform-Module
Terraform.latest Terraform/Base Terraform/Base.latest Terraform/Module-Base ThemeKit Verify/Accessibility
Verify/Browser-Performance Verify/Browser-Performance.latest Verify/FailFast Verify/Load-Performance-Testing
Workflows/Branch-Pipelines Workflows/MergeRequest-Pipelines dotNET dotNET-Core iOS-Fastlane liquibase npm
"""


def read(*names: str, text: str = OWN_JOB) -> PipelineConfig:
    """Read a file that includes templates."""
    includes = "".join(f"  - template: {name}.gitlab-ci.yml\n" for name in names)
    return read_config(f"include:\n{includes}{text}", StandaloneSource(), StandaloneContext())


def test_all_names_of_gitlab_exist() -> None:
    assert set(GITLAB_NAMES.split()) - set(NAMES) == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_valid(name: str) -> None:
    """Without effect means a warning; the others have none, except about pipelines that may run twice."""
    own_stages = "\nstages:\n" in find_template("gitlab_ci_ymls", name).content
    config = read(name, text="own job: {stage: .pre, script: [make]}\n" + ("" if own_stages else STAGES))
    without_effect = "# Without effect: " in find_template("gitlab_ci_ymls", name).content
    assert (f"Template `{name}.gitlab-ci.yml` has no effect" in " ".join(config.warnings)) == without_effect
    assert not [text for text in config.warnings if "has no effect" not in text]
    yields_jobs = any(job.name != "own job" for job in config.jobs)
    assert yields_jobs or without_effect or name.startswith(ONLY_PARTS), "It neither has a job nor causes a warning."


@pytest.mark.parametrize(
    "names",
    [
        ("Auto-DevOps", "Workflows/MergeRequest-Pipelines"),
        ("Workflows/Branch-Pipelines", "Security/SAST", "Jobs/SAST", "Security/Secret-Detection", "Pages/Hugo"),
        ("Terraform.latest", "Jobs/Secret-Detection.latest"),
        (
            "Security/SAST",
            "Security/Dependency-Scanning",
            "Jobs/Container-Scanning.latest",
            "Code-Quality",
            "Jobs/Build",
        ),
    ],
)
def test_templates_together(names: tuple[str, ...]) -> None:
    assert read(*names).warnings == ()


def test_jobs_of_templates_can_be_overridden() -> None:
    """Files change settings of jobs by their names in GitLab; a job without effect can be overridden, too."""
    names = ("semgrep-sast", "spotbugs-sast", "secret_detection", "gemnasium-python-dependency_scanning")
    text = "".join(f"{name}: {{tags: [docker]}}\n" for name in (*names, "dast_with_bas"))
    templates = ("Security/SAST", "Security/Secret-Detection", "Security/Dependency-Scanning", "Security/BAS.latest")
    config = read(*templates, text=text + STAGES)
    assert {job.name for job in config.jobs} >= {*names, "dast_with_bas"}


BRANCH = {"CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}
TOPIC = {"CI_COMMIT_BRANCH": "topic", "CI_DEFAULT_BRANCH": "main"}
MERGE_REQUEST = {"CI_MERGE_REQUEST_IID": "1", "CI_PIPELINE_SOURCE": "merge_request_event"}


def planned(*names: str, variables: dict[str, str], own: dict[str, str] | None = None) -> set[str]:
    """Return the jobs of a pipeline of a Python project."""
    facts = PipelineFacts(variables=variables | (own or {}), paths=("app.py", "requirements.txt", "Dockerfile"))
    plan = plan_pipeline(read(*names), facts)
    return set() if plan is None else {job.spec.name for job in plan.jobs} - {"own job"}


def test_rules_of_the_scanners() -> None:
    """Scanners run for branches, for merge requests on request, and not when a variable disables them."""
    names = (
        "Security/SAST",
        "Security/Secret-Detection",
        "Security/Dependency-Scanning",
        "Security/Container-Scanning",
    )
    scanners = {"semgrep-sast", "secret_detection", "gemnasium-python-dependency_scanning", "container_scanning"}
    assert planned(*names, variables=BRANCH) == scanners
    assert planned(*names, variables=MERGE_REQUEST) == set()
    assert planned(*names, variables=MERGE_REQUEST, own={"AST_ENABLE_MR_PIPELINES": "true"}) == scanners
    disabled = {
        "SAST_DISABLED": "semgrep-sast",
        "SAST_EXCLUDED_ANALYZERS": "semgrep-sast",
        "SECRET_DETECTION_DISABLED": "secret_detection",
        "DEPENDENCY_SCANNING_DISABLED": "gemnasium-python-dependency_scanning",
        "CONTAINER_SCANNING_DISABLED": "container_scanning",
    }
    for variable, job in disabled.items():
        value = "semgrep" if variable == "SAST_EXCLUDED_ANALYZERS" else "true"
        assert planned(*names, variables=BRANCH, own={variable: value}) == scanners - {job}, variable
    assert planned(*names, variables=BRANCH, own={"SECRET_DETECTION_ENABLED": "false"}) == scanners - {
        "secret_detection"
    }


def test_workflows() -> None:
    def runs(name: str, variables: dict[str, str]) -> bool:
        return plan_pipeline(read(name), PipelineFacts(variables=variables)) is not None

    cases = (BRANCH, TOPIC, {"CI_COMMIT_TAG": "v1"}, MERGE_REQUEST)
    assert [runs("Workflows/Branch-Pipelines", each) for each in cases] == [True, True, True, False]
    assert [runs("Workflows/MergeRequest-Pipelines", each) for each in cases] == [True, False, True, True]


def test_auto_devops() -> None:
    """The default branch is built, tested, scanned and, with access to a cluster, deployed."""
    scans = {"semgrep-sast", "secret_detection", "gemnasium-python-dependency_scanning", "container_scanning"}
    assert planned("Auto-DevOps", variables=BRANCH) == {"build", "test", "code_quality", *scans}
    assert "production" in planned("Auto-DevOps", variables=BRANCH, own={"KUBECONFIG": "/config"})
    assert "review" in planned("Auto-DevOps", variables=TOPIC, own={"KUBECONFIG": "/config"})
    assert "test" not in planned("Auto-DevOps", variables=BRANCH, own={"TEST_DISABLED": "true"})
