"""Tables of lakes: Delta Lake and Iceberg, as they are or as they were."""
