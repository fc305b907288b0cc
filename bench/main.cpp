// tranca_bench: what tranca's locks and semaphores cost, and what they are good for. See --help.

#include <cstdio>
#include <exception>

#include "app/benchmark.hpp"
#include "app/options.hpp"

int main(int count, char** arguments) {
    try {
        return tranca::bench::run_benchmark(tranca::bench::read_options(count, arguments));
    } catch (const tranca::bench::leave& end) {
        return end.code;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "tranca_bench: %s\n", failure.what());
        return 1;
    }
}
