"""Pages of projects: home, creation, forks, settings and deletion."""
