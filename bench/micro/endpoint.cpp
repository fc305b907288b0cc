// What reading a URL costs.

#include <benchmark/benchmark.h>

#include <tranca/endpoint.hpp>

namespace {

void endpoint_parse_short(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(tranca::endpoint::parse("redis://localhost"));
}
BENCHMARK(endpoint_parse_short);

void endpoint_parse_full(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            tranca::endpoint::parse("redis://worker:p%40ss@cache.example.com:6380/5?command_timeout=200ms"));
    }
}
BENCHMARK(endpoint_parse_full);

}  // namespace
