"""Files on other machines (https, S3, Google Cloud, Azure), through fsspec.

Parquet files are read where they are, the ranges of bytes that are needed; all others are copied.
Addresses may hold passwords and signatures, and libraries may repeat them in their errors: neither
is ever shown, so that errors are told in words of our own.
"""
