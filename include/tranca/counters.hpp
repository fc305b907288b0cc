#pragma once

// An event_sink that counts and measures: what a dashboard wants to know of the locks of a process.
//
//     auto numbers = std::make_shared<tranca::counters>();
//     tranca::client redis{"redis://localhost:6379", {.sink = numbers}};
//     answer_scrape(numbers->prometheus());    // or, for people: std::cout << numbers->text();
//
// Promises: on() is wait-free (at most four relaxed atomic additions, no allocation, no lock); no count and no sum ever
// goes down. One object may serve several clients: their numbers add up. A child made by fork() goes on from its
// parent's numbers.
// Does not promise numbers per key: keys are without bound, and a time series for each would bury whoever stores them;
// clients whose locks are to be told apart get a `counters` each. Nor does it promise one moment: a reading beside
// writers may have an event in one of its numbers and not yet in another.
// Thread safety: full.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tranca/event.hpp>
#include <tranca/latency_histogram.hpp>

namespace tranca {

/// See the top of this file.
class counters final : public event_sink {
public:
    /// Counts the event; of an acquisition and of a release also the time. Wait-free.
    void on(const event& happening) noexcept override;

    /// How many events of this kind there were.
    [[nodiscard]] std::uint64_t count(event::kind what) const noexcept;

    /// How long those who were granted had waited. Who gave up is not in it, but in count(event::kind::busy): where
    /// that is high, the waits look shorter than they are.
    [[nodiscard]] const latency_histogram& wait() const noexcept { return wait_; }

    /// How long was held what was released; what was lost or left to its ttl is not in it.
    [[nodiscard]] const latency_histogram& hold() const noexcept { return hold_; }

    /// A table for people: a line for each kind, then the times. Its form may change.
    [[nodiscard]] std::string text() const;

    /// The text format of Prometheus, version 0.0.4: `<prefix>_events_total{kind="acquired"}` and so on, the histograms
    /// `<prefix>_wait_seconds` and `<prefix>_hold_seconds`. Throws errc::invalid_argument for a prefix that is not made
    /// of letters, digits and _, or begins with a digit.
    [[nodiscard]] std::string prometheus(std::string_view prefix = "tranca") const;

private:
    // A kind that comes after this one would not be counted; the unit test sees to it.
    static constexpr auto kind_count = static_cast<std::size_t>(event::kind::spurious_wakeup) + 1;

    std::array<std::atomic<std::uint64_t>, kind_count> counts_{};
    latency_histogram wait_;
    latency_histogram hold_;
};

}  // namespace tranca
