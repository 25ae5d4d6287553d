"""Packages of Java, for Maven and Gradle."""
