// What encoding a command costs, before anything is sent.

#include <benchmark/benchmark.h>

#include <tranca/key.hpp>
#include <tranca/request.hpp>
#include <tranca/time.hpp>
#include <tranca/token.hpp>

namespace {

const tranca::key name{"lock:market:"};

void request_set_nx_px(benchmark::State& state) {
    const auto mine = tranca::token::generate();
    for (auto _ : state) {
        tranca::request encoded{"SET", name, mine, "NX", "PX", tranca::milliseconds(10'000)};
        benchmark::DoNotOptimize(encoded.bytes());
    }
}
BENCHMARK(request_set_nx_px);

// Five commands of a semaphore's first step.
void request_pipeline(benchmark::State& state) {
    const auto mine = tranca::token::generate();
    for (auto _ : state) {
        tranca::request encoded{"MULTI"};
        encoded.add("ZREMRANGEBYSCORE", name, "-inf", "1700000000.000000");
        encoded.add("ZADD", name, "1700000000.000000", mine).add("ZRANK", name, mine).add("EXEC");
        benchmark::DoNotOptimize(encoded.bytes());
    }
}
BENCHMARK(request_pipeline);

}  // namespace
