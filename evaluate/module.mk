# SPDX-License-Identifier: MIT
PROGS += km-evaluate
km-evaluate_SRCS := evaluate/evaluate.c evaluate/link.c evaluate/prepare.c \
	evaluate/build.c evaluate/build_torch.c evaluate/verdict.c evaluate/explain.c evaluate/feedback.c evaluate/static.c evaluate/normal.c evaluate/outcome.c \
	evaluate/cuda/plan.c evaluate/cuda/plan_expr.c \
	evaluate/kernelbench_run.c evaluate/kernelbench_results.c evaluate/confusion.c
km-evaluate_ARCHIVES := run py

INTERNAL_PROGS += km-judge km-runner-c km-runner-cuda
km-judge_SRCS := evaluate/judge.c evaluate/trial.c evaluate/trial_time.c \
	evaluate/trial_verdict.c evaluate/trial_kernels.c \
	evaluate/kernel_name.c evaluate/bench.c evaluate/reference.c \
	evaluate/reference_configs.c evaluate/chain.c \
	evaluate/ring.c evaluate/side.c evaluate/session.c evaluate/device.c \
	evaluate/device_cpu.c evaluate/device_cuda.c evaluate/cuda/cuda.c \
	evaluate/cuda/nvrtc.c evaluate/cuda/gpu.c evaluate/cuda/gpu_fill.c evaluate/cuda/gpu_compare.c \
	evaluate/cuda/calibrate.c evaluate/cuda/blas.c evaluate/memory.c evaluate/timing.c \
	evaluate/compare.c evaluate/generate.c evaluate/task.c \
	evaluate/dtype.c evaluate/outcome.c
km-judge_ARCHIVES := run
km-runner-c_SRCS := evaluate/runner_c.c evaluate/native.c evaluate/task.c evaluate/dtype.c
km-runner-c_ARCHIVES := run
# Jailed under an address space limit, which the sanitizers do not survive.
km-runner-c_NOSAN := 1
km-runner-cuda_SRCS := evaluate/runner_cuda.c evaluate/native.c \
	evaluate/cuda/plan.c evaluate/cuda/plan_expr.c evaluate/cuda/cuda.c \
	evaluate/cuda/nvrtc.c evaluate/cuda/gpu.c evaluate/task.c evaluate/dtype.c
km-runner-cuda_ARCHIVES := run
km-runner-cuda_NOSAN := 1
EMBED += evaluate/km_candidate.h evaluate/cuda/data.cu \
	evaluate/cuda/compare.cu evaluate/cuda/ring.cu evaluate/cuda/common.cuh evaluate/cuda/passed.h
UNIT_SRCS += evaluate/kernel_name.c evaluate/compare.c evaluate/timing.c evaluate/generate.c \
	evaluate/task.c evaluate/dtype.c evaluate/normal.c evaluate/static.c \
	evaluate/kernelbench_run.c evaluate/kernelbench_results.c evaluate/confusion.c \
	evaluate/build_torch.c evaluate/outcome.c evaluate/feedback.c evaluate/memory.c evaluate/device_cpu.c \
	evaluate/device_cuda.c evaluate/cuda/cuda.c evaluate/cuda/plan.c \
	evaluate/cuda/plan_expr.c evaluate/cuda/calibrate.c evaluate/cuda/blas.c \
	evaluate/cuda/nvrtc.c evaluate/cuda/gpu.c evaluate/cuda/gpu_fill.c evaluate/cuda/gpu_compare.c
