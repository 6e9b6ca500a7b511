"""x."""
from contextlib import contextmanager
@contextmanager
def plain_errors(source):
    yield
