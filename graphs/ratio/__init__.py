"""How many decode engines a prefill engine feeds, from the ladder's memory, published measurements and a workload."""
