// What a guard costs that is moved about, and asked whether it still holds. No server: its lease never begins.

#include <benchmark/benchmark.h>

#include <memory>
#include <utility>

#include <tranca/client.hpp>
#include <tranca/guard.hpp>
#include <tranca/ladder/lock_options.hpp>

namespace {

tranca::guard some_guard() {
    static const tranca::client nowhere{"redis://127.0.0.1:1"};
    return tranca::guard{std::make_shared<tranca::ladder::lock_lease>(nowhere.pool(), tranca::key{"lock:a"},
                                                                      tranca::lease_clock::endless())};
}

void guard_move(benchmark::State& state) {
    auto here = some_guard();
    tranca::guard there;
    for (auto _ : state) {
        there = std::move(here);
        here = std::move(there);
        benchmark::DoNotOptimize(here);
    }
    state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(guard_move);

void guard_still_held(benchmark::State& state) {
    const auto held = some_guard();
    for (auto _ : state)
        benchmark::DoNotOptimize(static_cast<bool>(held));
}
BENCHMARK(guard_still_held);

// What an attempt allocates before it sends anything: a lease with its token and its key.
void lease_make(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(some_guard());
}
BENCHMARK(lease_make);

}  // namespace
