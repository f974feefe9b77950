"""Local models: llama.cpp through the C interface that the prebuilt `xllamacpp` wheel exports.

`backend` answers calls; `cache`, `fetch` and `requantise` own the files; `engine` is what a model must be able to do,
`llama` does it with llama.cpp over `capi`; `canonical` and `prefixes` make a reply independent of whatever ran before;
`scheduler` takes requests in turn, and `room` is one model at work on many of them; `answers` is what a call asks of
it. Nothing is imported here, so that naming a local model stays cheap.
"""
