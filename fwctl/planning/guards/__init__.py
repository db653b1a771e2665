"""Guards: what may stand between a change and the platform. One module a subject, one row in `ALL`."""
