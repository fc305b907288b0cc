#pragma once

// What must be known about a run to read its figures.

#include <string>

namespace tranca::bench {

struct run_facts {
    std::string version;    ///< Of tranca.
    std::string redis;      ///< Which server, how reached.
    std::string processor;  ///< The model and how many cores may be used.
    std::string compiler;
    std::string date;  ///< UTC.
    std::string pace;  ///< quick, usual or full.
    double load = 0;   ///< Of the machine in the minute before: above 1 others disturb the figures.
    bool interrupted = false;
};

/// Reads what the system says. The server's part and the pace are the caller's.
[[nodiscard]] run_facts gather_facts();

}  // namespace tranca::bench
