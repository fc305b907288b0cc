// semaphore_fixture: the base of the tests of tranca::semaphore.
//
//     class Slots : public semaphore_fixture {};
//     TEST_F(Slots, AreUnique) { auto calls = limited_to(3); ... }
//
// An empty server, a client, and what the server keeps of the semaphore "thing".
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <tranca/tranca.hpp>

#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"

namespace tranca::semaphore_test {

using namespace std::chrono_literals;
using testing::eventually;
using testing::stopwatch;

inline constexpr milliseconds patience = 10s;  // for what happens at once unless something is broken

class semaphore_fixture : public testing::redis_fixture {
protected:
    /// Renewed by hand only, unless said otherwise.
    [[nodiscard]] semaphore limited_to(std::int64_t limit, milliseconds ttl = 10s) const {
        return {redis, "thing", limit, {.lease = {.ttl = ttl, .renew_every = 0ms}, .label = "me"}};
    }

    [[nodiscard]] std::int64_t members() { return raw.must({"ZCARD", "semaphore:thing"}).integer; }
    /// What the server wrote down: limit, used, fence, next, top, spare, lives, watch.
    [[nodiscard]] std::vector<std::string> books() {
        std::istringstream line{raw.must({"HGET", "{semaphore:thing}:state", "books"}).text};
        return {std::istream_iterator<std::string>{line}, {}};
    }
    /// As if the last fence had been this one.
    void set_fence(std::uint64_t last) {
        auto all = books();
        all.at(2) = std::to_string(last);
        std::string line;
        for (const auto& each : all)
            line += (line.empty() ? "" : " ") + each;
        raw.must({"HSET", "{semaphore:thing}:state", "books", line});
    }
    void let_lapse() {
        for (const auto& member : raw.must({"ZRANGE", "semaphore:thing", "0", "-1"}).items)
            raw.must({"ZADD", "semaphore:thing", "XX", "1", member.text});
    }
    /// Waits until so many sleep on the server.
    [[nodiscard]] bool asleep(int waiters) {
        return eventually(patience, [&] { return raw.info("blocked_clients") == std::to_string(waiters); });
    }

    client redis{server.url()};
};

/// What `body` threw, if it was an error of the library.
[[nodiscard]] inline std::optional<errc> reason_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const error& failure) {
        return failure.reason();
    }
    return std::nullopt;
}

[[nodiscard]] inline std::vector<std::int64_t> slots_of(const guard& held) {
    return {held.slots().begin(), held.slots().end()};
}

}  // namespace tranca::semaphore_test
