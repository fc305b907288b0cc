#include <tranca/counters.hpp>

#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include <tranca/error.hpp>

namespace tranca {

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using float_nanoseconds = std::chrono::duration<double, std::nano>;
using float_seconds = std::chrono::duration<double>;

// From a round trip on one machine to a lock that is held too long. A dashboard knows them: change none, add if needed.
constexpr std::array<nanoseconds, 18> bounds{100us, 250us, 500us, 1ms, 2500us, 5ms, 10ms, 25ms, 50ms,
                                             100ms, 250ms, 500ms, 1s,  2500ms, 5s,  10s,  30s,  60s};

std::string readable(float_nanoseconds time) {
    if (time < 1us) return fmt::format("{:.0f} ns", time.count());
    if (time < 1ms) return fmt::format("{:.1f} us", time / 1us);
    if (time < 1s) return fmt::format("{:.1f} ms", time / 1ms);
    return fmt::format("{:.1f} s", time / 1s);
}

void append_times(std::string& table, std::string_view name, const latency_histogram& times) {
    const auto count = times.count();
    const auto mean = count == 0 ? float_nanoseconds{0} : times.sum() / static_cast<double>(count);
    fmt::format_to(std::back_inserter(table), "{:<16}{:>14}{:>12}{:>12}{:>12}{:>12}\n", name, count, readable(mean),
                   readable(times.quantile(0.5)), readable(times.quantile(0.99)), readable(times.quantile(1)));
}

void append_family(std::string& page, std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(page), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

void append_histogram(std::string& page, const std::string& name, std::string_view help,
                      const latency_histogram& times) {
    append_family(page, name, "histogram", help);
    const auto out = std::back_inserter(page);
    const auto counts = times.cumulative(bounds);
    for (std::size_t index = 0; index < bounds.size(); ++index)
        fmt::format_to(out, "{}_bucket{{le=\"{}\"}} {}\n", name, float_seconds{bounds[index]}.count(), counts[index]);
    fmt::format_to(out, "{}_bucket{{le=\"+Inf\"}} {}\n", name, counts.back());
    fmt::format_to(out, "{}_sum {}\n", name, float_seconds{times.sum()}.count());
    // Of the same reading as the buckets: a scraper expects it to be that of +Inf.
    fmt::format_to(out, "{}_count {}\n", name, counts.back());
}

// Without a locale, and without the colons that Prometheus keeps for its users' own rules.
void require_metric_name(std::string_view prefix) {
    constexpr std::string_view digits = "0123456789";
    constexpr std::string_view allowed = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (prefix.empty() || digits.find(prefix.front()) != digits.npos ||
        prefix.find_first_not_of(allowed) != prefix.npos)
        throw error(errc::invalid_argument,
                    fmt::format("the prefix of metrics must be made of letters, digits and _, and not begin with a "
                                "digit: \"{}\" is not",
                                prefix));
}

}  // namespace

void counters::on(const event& happening) noexcept {
    const auto index = static_cast<std::size_t>(happening.what);
    if (index >= kind_count) return;
    counts_[index].fetch_add(1, std::memory_order_relaxed);
    if (happening.what == event::kind::acquired) wait_.add(happening.elapsed);
    if (happening.what == event::kind::released) hold_.add(happening.elapsed);
}

std::uint64_t counters::count(event::kind what) const noexcept {
    const auto index = static_cast<std::size_t>(what);
    return index < kind_count ? counts_[index].load(std::memory_order_relaxed) : 0;
}

std::string counters::text() const {
    std::string table = fmt::format("{:<16}{:>14}\n", "event", "count");
    for (std::size_t index = 0; index < kind_count; ++index) {
        const auto what = static_cast<event::kind>(index);
        fmt::format_to(std::back_inserter(table), "{:<16}{:>14}\n", to_string(what), count(what));
    }
    fmt::format_to(std::back_inserter(table), "\n{:<16}{:>14}{:>12}{:>12}{:>12}{:>12}\n", "time", "count", "mean",
                   "median", "99 %", "longest");
    append_times(table, "wait", wait_);
    append_times(table, "hold", hold_);
    return table;
}

std::string counters::prometheus(std::string_view prefix) const {
    require_metric_name(prefix);
    std::string page;
    const auto events = fmt::format("{}_events_total", prefix);
    append_family(page, events, "counter", "What happened to locks, by kind.");
    for (std::size_t index = 0; index < kind_count; ++index) {
        const auto what = static_cast<event::kind>(index);
        fmt::format_to(std::back_inserter(page), "{}{{kind=\"{}\"}} {}\n", events, to_string(what), count(what));
    }
    append_histogram(page, fmt::format("{}_wait_seconds", prefix), "How long those who acquired had waited.", wait_);
    append_histogram(page, fmt::format("{}_hold_seconds", prefix), "How long was held what was released.", hold_);
    return page;
}

}  // namespace tranca
