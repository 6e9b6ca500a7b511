"""The web page under load, and under attack."""
