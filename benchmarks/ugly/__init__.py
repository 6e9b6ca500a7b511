"""Sixty files as people have them, each read right or refused with a remedy.

python -m benchmarks.ugly                  # the table of outcomes
python -m benchmarks.ugly --docs           # also written to docs/messy.md
python -m benchmarks.ugly --keep FOLDER    # the files, to look at
"""
