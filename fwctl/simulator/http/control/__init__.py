"""The REST control plane below /v1: paths and spellings of the gateway over the platform's rules."""
