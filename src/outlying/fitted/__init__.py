"""A fitted model that is kept: the rows it is made of in a file, and new rows judged by it."""
