"""Benchmarks, and the planted tables that both they and the tests draw on."""
