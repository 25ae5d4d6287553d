"""CI configuration: reads ``.gitlab-ci.yml``, validates it, and plans the jobs of a pipeline."""
