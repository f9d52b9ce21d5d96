"""Adapters for the places where bots live. Each imports its library when it is imported itself.

decorator   a plain function from question to answer
openai      the official client, sync and async, streams included
langchain   LangChain's cache of models
litellm     LiteLLM's cache
"""
