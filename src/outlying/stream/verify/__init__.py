"""The second pass: exact counts and distributions of columns inside contexts."""
