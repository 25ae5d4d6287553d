"""CI/CD catalog: projects whose components are published in versions, for others to find and include."""
