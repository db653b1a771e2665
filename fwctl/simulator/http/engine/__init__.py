"""What a simulated model answers and how long it takes: pure, seeded, without sockets or clocks."""
