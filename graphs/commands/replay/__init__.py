"""`dynamo replay`: agent sessions, recorded or made up, against a model of the graph."""
