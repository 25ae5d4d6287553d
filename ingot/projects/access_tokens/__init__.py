"""Access tokens of projects and groups, each with a bot user that has access to nothing else."""
