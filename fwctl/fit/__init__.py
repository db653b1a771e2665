"""Weights and KV memory of a model on accelerators: verdict, capacity, what would fit.

Pure arithmetic; where a config comes from is the business of `fwctl.hub` and the caller. Start at
`check.check`; requests are built in `options`, configs are understood in `parse`.
"""
