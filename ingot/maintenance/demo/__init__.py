"""Demo data: sample users and a year of activity in five projects."""
