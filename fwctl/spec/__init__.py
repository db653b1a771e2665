"""YAML text -> Spec: strict reading with a place for everything, and every problem in one pass."""
