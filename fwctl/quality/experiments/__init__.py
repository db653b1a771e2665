"""Experiments: candidate deployments under the same load, and which one wins."""
