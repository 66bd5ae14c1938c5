"""The HTTP frontend: Dynamo's server, our chat engine."""
