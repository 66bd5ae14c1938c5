"""What vLLM, NIXL and Dynamo would say about engines after minutes of loading, or not at all; one file for each family.

Read in vLLM 0.31.0 and dynamo.vllm 1.6.1; every rule names what it was read in where that is not plain.
"""
