"""Measuring deployments: prompt sets, load, records, summaries, comparisons, and the harness's own error."""
