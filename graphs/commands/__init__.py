"""The subcommands of `dynamo`, one a file."""
