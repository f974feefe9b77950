"""Local models: llama.cpp through the C interface that the prebuilt `xllamacpp` wheel exports.

`backend` answers calls; `cache`, `fetch` and `requantise` own the files; `engine` is what a model must be able to do,
`llama` does it with llama.cpp over `capi`; `canonical` and `prefixes` make a reply independent of whatever ran before.
Nothing is imported here, so that naming a local model stays cheap.
"""
