// What grid barriers and launches take with CUDA's own means: the peer of what `gridwise devices` measures on cuda:0.
// Prints `barrier_nanoseconds N`, `launch_nanoseconds N` and `blocks N`. nvcc -O3 -arch=native -o cooperative_groups cooperative_groups.cu
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

constexpr int ROUNDS = 64, TRIES = 5, THREADS = 256;

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t error = (call);                                                   \
        if (error != cudaSuccess) {                                                   \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));       \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)

__device__ unsigned long long now() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

__global__ void barriers(unsigned long long *nanoseconds) {
    cg::grid_group grid = cg::this_grid();
    grid.sync();
    unsigned long long start = now();
    for (int round = 0; round < ROUNDS; ++round) grid.sync();
    if (grid.thread_rank() == 0) *nanoseconds = now() - start;
}

__global__ void nothing() {}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    int per_multiprocessor = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, barriers, THREADS, 0));
    int blocks = per_multiprocessor * properties.multiProcessorCount;
    unsigned long long *nanoseconds;
    CHECK(cudaMallocManaged(&nanoseconds, sizeof *nanoseconds));
    void *arguments[] = {&nanoseconds};

    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int round = 0; round < ROUNDS; ++round) nothing<<<blocks, THREADS, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&replay, graph, 0));
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));

    double barrier = 1e300, launch = 1e300;
    for (int attempt = 0; attempt < TRIES; ++attempt) {
        CHECK(cudaLaunchCooperativeKernel((void *)barriers, blocks, THREADS, arguments, 0, stream));
        CHECK(cudaStreamSynchronize(stream));
        if (*nanoseconds / (double)ROUNDS < barrier) barrier = *nanoseconds / (double)ROUNDS;
        CHECK(cudaEventRecord(start, stream));
        CHECK(cudaGraphLaunch(replay, stream));
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, start, end));
        if (milliseconds * 1e6 / ROUNDS < launch) launch = milliseconds * 1e6 / ROUNDS;
    }
    std::printf("barrier_nanoseconds %.0f\nlaunch_nanoseconds %.0f\nblocks %d\n", barrier, launch, blocks);
}
