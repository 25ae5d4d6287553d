"""Pipeline triggers: tokens to start a project's pipelines."""
