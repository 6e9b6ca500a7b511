"""A fitted model that is kept: the rows it is made of in a file, and new rows judged by it.

`file` writes and reads it, without what is withheld; `reading` reads new rows as its own were
read; `newcomers` judges them.
"""
