#pragma once

// Keeps events back while a lock of the library is held.
//
//     const event_hold until_unlocked;            // before the lock, so that it ends after it
//     const std::lock_guard lock{asking_};
//     pool.report(...)                            // by whatever runs here: told when `until_unlocked` ends
//
// An answer that is read on the way, to what another lease had posted, may be worth an event, whose sink may use this very lease.
// Promises: they are told in their order, by the same thread. One that finds no memory is dropped.
// The pools they belong to must live until then. One inside another passes its events on to that.

#include <chrono>
#include <functional>
#include <vector>

namespace tranca {

class event_hold {
public:
    event_hold() noexcept;
    ~event_hold();
    event_hold(const event_hold&) = delete;
    event_hold& operator=(const event_hold&) = delete;

    /// That of this thread; nullptr: there is none, and events may be told at once.
    [[nodiscard]] static event_hold* current() noexcept;

    void keep(std::function<void()> telling) noexcept;

private:
    event_hold* outer_;
    std::vector<std::function<void()>> kept_;
};

}  // namespace tranca
