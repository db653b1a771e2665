"""The adaptive draft pipeline: collect, train, evaluate, decide, watch."""
