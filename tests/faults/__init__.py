"""A model of faults for the pipeline."""
