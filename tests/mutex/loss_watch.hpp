// loss_watch: when a guard's loss was told, on the wall clock that the server's expiry times are on.
//
//     const loss_watch loss{held};
//     EXPECT_TRUE(loss.told_within(2s));
//     EXPECT_LT(loss.wall_time(), expires_at);
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>

#include "mutex/mutex_fixture.hpp"

namespace tranca::mutex_test {

class loss_watch {
public:
    explicit loss_watch(const guard& held) : on_loss_(held.lost(), [this] { mark(); }) {}

    [[nodiscard]] bool told() const { return calls_ > 0; }
    [[nodiscard]] bool told_within(milliseconds limit) const {
        return eventually(limit, [&] { return told(); });
    }
    [[nodiscard]] int calls() const { return calls_; }
    [[nodiscard]] std::int64_t wall_time() const { return when_; }  // in ms; far away before it was told

private:
    void mark() {
        when_ = wall_ms();
        ++calls_;
    }

    std::atomic<std::int64_t> when_{std::numeric_limits<std::int64_t>::max()};
    std::atomic<int> calls_{0};
    std::stop_callback<std::function<void()>> on_loss_;
};

}  // namespace tranca::mutex_test
