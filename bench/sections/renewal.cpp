// Thousands of mutexes held by one process: are all renewed in time, and by how many threads and connections?

#include <chrono>

#include <fmt/format.h>

#include "process/interrupt.hpp"
#include "renewal/vigil.hpp"
#include "renewal/vigil_report.hpp"
#include "sections/section.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;

class renewal_section final : public section {
public:
    std::string_view name() const override { return "renewal"; }
    std::string_view summary() const override { return "thousands of mutexes held and renewed by one process"; }

    void run(const stage& where, findings& found) override {
        if (interrupt::requested()) return;
        where.redis.check_alive();
        const auto setting = setting_for(where.speed);
        const std::chrono::duration<double> length = length_of(setting);
        where.told.begin(fmt::format("renewal of {} guards", setting.guards), length.count());
        where.redis.pin_server({where.machine.back()});
        const auto measured = run_vigil(setting, where.redis,
                                        {.workers = where.redis.is_private() ? cores{where.machine.front()} : cores{},
                                         .tick = [&where](double elapsed) { where.told.tick(elapsed); }});
        if (interrupt::requested()) return;  // too short to say anything
        found.rows.push_back(vigil_row(measured));
        found.tables = {vigil_table(measured)};
        found.claims = {vigil_claim(measured)};
    }

private:
    static vigil setting_for(pace speed) {
        if (speed == pace::quick) return {.guards = 2'000, .ttl = 2'400ms};
        return {.guards = 10'000, .ttl = speed == pace::full ? 12'000ms : 3'600ms};
    }
};

const enlisted<renewal_section> here{60};

}  // namespace
}  // namespace tranca::bench
