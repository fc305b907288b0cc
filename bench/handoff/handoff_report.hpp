#pragma once

// Hand-overs for people and for programs. Pure.

#include <string>
#include <vector>

#include "report/findings.hpp"

namespace tranca::bench {

struct handoff_result {
    std::string primitive;  ///< "raw" is the bare round trip on the same route.
    std::string transport;
    int delay_us = 0;  ///< What the network adds there and back together.
    int count = 0;
    double p50_us = 0;
    double p99_us = 0;
};

[[nodiscard]] nlohmann::json handoff_row(const handoff_result& measured);
[[nodiscard]] table handoff_table(const std::vector<handoff_result>& measured);
[[nodiscard]] plot handoff_plot(const std::vector<handoff_result>& measured);

/// Only claims whose cells were measured.
[[nodiscard]] std::vector<claim> handoff_claims(const std::vector<handoff_result>& measured);

}  // namespace tranca::bench
