#include "report/json_report.hpp"

namespace tranca::bench {

nlohmann::ordered_json as_json(const run_facts& facts, const std::vector<findings>& all) {
    nlohmann::ordered_json made{
        {"tranca", facts.version},    {"date", facts.date}, {"redis", facts.redis}, {"processor", facts.processor},
        {"compiler", facts.compiler}, {"pace", facts.pace}, {"load", facts.load},   {"interrupted", facts.interrupted}};
    auto claims = nlohmann::ordered_json::array();
    auto failures = nlohmann::ordered_json::array();
    for (const auto& section : all) {
        made[section.name] = section.rows;
        for (const auto& one : section.claims) {
            claims.push_back({{"claim", one.text}, {"holds", one.holds}, {"figures", one.figures}});
        }
        for (const auto& one : section.failures)
            failures.push_back(section.name + ": " + one);
    }
    made["claims"] = claims;
    made["failures"] = failures;
    return made;
}

}  // namespace tranca::bench
