"""Model facts from outside: config.json and safetensors sizes, from a file, the catalogue or the hub.

Start at `load.load`. Everything read is bounded in size and time; nothing here is trusted.
"""
