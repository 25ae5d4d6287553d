"""Variables that pipelines get: of projects, of groups and of the whole instance."""
