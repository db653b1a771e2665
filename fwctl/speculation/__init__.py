"""What speculative decoding pays: acceptance arithmetic, and replay of recorded traffic without a GPU.

arithmetic, published, explain: formulas and their document. verify: the greedy verify rule. drafts, suffix,
endpoint: what a source drafts in an answer. replay, tally, intervals, recommend: from traffic to figures and
a recommendation; projection: one source on a hold-out. trace, tokens, reading: lines of logs. running,
worker, cluster: here, in several processes, on Ray. Only reading, tokens, endpoint, running, worker and
cluster do I/O.
"""
