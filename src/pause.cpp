#include <tranca/pause.hpp>

#include <condition_variable>
#include <mutex>

namespace tranca {

bool pause_until(clock::time_point when, const std::stop_token& stop, const std::stop_token& closing) {
    std::mutex mutex;
    std::condition_variable wakes;
    bool stopped = false;
    const auto wake = [&] {
        const std::lock_guard lock{mutex};
        stopped = true;
        wakes.notify_one();
    };
    const std::stop_callback on_stop{stop, wake};
    const std::stop_callback on_closing{closing, wake};
    std::unique_lock lock{mutex};
    return !wakes.wait_until(lock, when, [&] { return stopped; });
}

}  // namespace tranca
