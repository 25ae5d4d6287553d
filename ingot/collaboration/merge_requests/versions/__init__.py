"""What a merge request brings: each push to its source makes a version, which stays readable for ever."""
