"""Charts of projects, each with its table: value stream, contributors, pipelines and languages."""
