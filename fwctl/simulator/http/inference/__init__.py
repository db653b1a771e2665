"""OpenAI-compatible inference on the simulated deployments."""
