"""A fitted model that is kept: the rows it is made of in a file, and new rows judged by it.

`file` writes and reads it, `withheld` takes out what must not be in it, `reading` reads new rows as
its own were read, `newcomers` judges them.
"""
