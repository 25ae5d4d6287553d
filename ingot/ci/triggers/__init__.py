"""Pipeline triggers: tokens to start a project's pipelines, once pipelines can run."""
