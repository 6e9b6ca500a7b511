"""The gate of a pipeline: may this batch pass? Its verdict, what was accepted, what has drifted."""
