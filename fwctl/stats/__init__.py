"""Statistics of measurements, in plain Python and without I/O.

Percentiles come with intervals, comparisons are paired, and too few samples are said, never hidden.
"""
