"""What a vLLM process is started with besides the flags that a person wrote: connectors, ports, environment, files."""
