"""Attempts to break it: random tables, random commands, faults of the system; counts are printed.

python -m benchmarks.hostile.library --tables 20000
python -m benchmarks.hostile.commands --runs 2000
python -m benchmarks.hostile.faults --rounds 10
python -m benchmarks.hostile.files --runs 500
"""
