"""What speculative decoding pays: acceptance arithmetic, and replay of recorded traffic without a GPU."""
