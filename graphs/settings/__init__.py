"""What a person may write for each kind of worker: typed, by the worker's own flag names."""
