"""Configuration of the demo pipelines, and the output of their jobs."""

CI_FILE = """\
stages: [build, test, deploy]

build:
  stage: build
  script:
    - python -m build

unit tests:
  stage: test
  script:
    - python -m pytest --cov
  coverage: '/TOTAL.*?(\\d+)%/'

lint:
  stage: test
  needs: []
  script:
    - ruff check .

deploy to staging:
  stage: deploy
  script:
    - ./deploy staging
  environment:
    name: staging
    url: https://staging.harbour.example
  only: [master]

deploy to production:
  stage: deploy
  script:
    - ./deploy production
  environment:
    name: production
    url: https://www.harbour.example
  only: [master]
  when: manual
"""
FAILING_JOB = "unit tests"
FAILURE = """\
\x1b[31mFAILED\x1b[0m tests/test_limits.py::test_the_first_and_the_last_value - assert 0 == 1
\x1b[31;1m1 failed, 23 passed in 0.52s\x1b[0m
"""
OUTPUT = {
    "build": "* Building sdist...\n* Building wheel...\n\x1b[32mSuccessfully built the package.\x1b[0m\n",
    "unit tests": (
        "collected 24 items\n\n"
        "tests/test_limits.py \x1b[32m............\x1b[0m            [ 50%]\n"
        "tests/test_values.py \x1b[32m............\x1b[0m            [100%]\n\n"
        "TOTAL                         212     19    91%\n"
        "\x1b[32;1m24 passed in 0.48s\x1b[0m\n"
    ),
    "lint": "\x1b[32mAll checks passed!\x1b[0m\n",
    "deploy to staging": "Copying 14 files\nRestarting the service\n\x1b[32mThe service answers.\x1b[0m\n",
}
"""Output by the name of the job."""
