#include "report/run_facts.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "process/placement.hpp"

namespace tranca::bench {
namespace {

std::string processor_model() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown processor";
}

std::string compiler() {
#if defined(__clang__)
    return __VERSION__;  // begins with its name
#else
    return fmt::format("GCC {}", __VERSION__);
#endif
}

}  // namespace

run_facts gather_facts() {
    run_facts facts;
    facts.version = TRANCA_BENCH_VERSION;
    facts.processor = fmt::format("{}, {} cores", processor_model(), usable_cores().size());
    facts.compiler = compiler();
    if (::getloadavg(&facts.load, 1) != 1) facts.load = 0;
    facts.date = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
    return facts;
}

}  // namespace tranca::bench
