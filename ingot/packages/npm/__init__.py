"""Packages of Node.js, for npm, yarn and pnpm."""
