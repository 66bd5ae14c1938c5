"""`dynamo toolcall conformance`: the published suite over our parser and tag, and over other parsers beside it."""
