"""What the types of each system become as columns: one module for each system."""
