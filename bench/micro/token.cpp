// What making a token costs: one system call and 32 digits.

#include <benchmark/benchmark.h>

#include <tranca/token.hpp>

namespace {

void token_generate(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(tranca::token::generate());
}
BENCHMARK(token_generate);

}  // namespace
