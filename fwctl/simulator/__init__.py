"""The embedded Fireworks: `firectl-sim`, its state and its server habits. Nothing here is billed."""
