"""Feature flags of projects, which applications read with clients of Unleash."""
