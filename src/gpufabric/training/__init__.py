"""Model and plan → operations, memory, demands on the network, and the step as a timeline; arrays of plans throughout."""
