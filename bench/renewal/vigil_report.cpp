#include "renewal/vigil_report.hpp"

#include <string>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace tranca::bench {
namespace {

std::string whole(std::uint64_t number) { return with_commas(number); }
std::string whole(int number) { return with_commas(static_cast<std::uint64_t>(number)); }

}  // namespace

nlohmann::json vigil_row(const vigil_result& measured) {
    return {{"guards", measured.setting.guards},
            {"ttl_ms", measured.setting.ttl.count()},
            {"seconds", measured.seconds},
            {"threads", measured.threads},
            {"connections", measured.connections},
            {"renewals", measured.renewals},
            {"lost", measured.lost},
            {"missed", measured.missed},
            {"least_left_ms", measured.least_left_ms},
            {"processor_share", measured.processor_share}};
}

table vigil_table(const vigil_result& measured) {
    return {
        fmt::format("Many locks held by one process, renewed every {} ms for {:.1f} s",
                    measured.setting.ttl.count() / 3, measured.seconds),
        {{"guards", false, ""},
         {"threads", false, ""},
         {"connections", false, ""},
         {"renewals", false, ""},
         {"lost", false, ""},
         {"missed", false, ""},
         {"least left", false, ""},
         {"processor", false, ""}},
        {{whole(measured.setting.guards), whole(measured.threads), whole(measured.connections),
          whole(measured.renewals), whole(measured.lost), whole(measured.missed),
          fmt::format("{:.0f} ms of {}", measured.least_left_ms, measured.setting.ttl.count()),
          fmt::format("{:.0f} %", 100 * measured.processor_share)}},
        {"threads: of the process, with the one that acquired. missed: guards that did not hold at the end.",
         "least left: how near any lease came to the end its holder believes in, a tenth of the ttl before Redis may "
         "expire the key. processor: of one core, for the renewals."}};
}

claim vigil_claim(const vigil_result& measured) {
    const auto due = std::uint64_t{3} * static_cast<std::uint64_t>(measured.setting.guards);
    return {"a process that holds thousands of mutexes misses no renewal",
            measured.lost == 0 && measured.missed == 0 && measured.renewals >= due && due > 0,
            fmt::format("{} renewals of {} guards by {} threads over {} connections, {} lost, {} missed",
                        whole(measured.renewals), whole(measured.setting.guards), measured.threads,
                        measured.connections, measured.lost, measured.missed)};
}

}  // namespace tranca::bench
