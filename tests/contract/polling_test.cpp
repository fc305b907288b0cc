// The waiting loop itself, over an attempt that does what the test says. No server.
#include <functional>

#include "contract/contract.hpp"

namespace tranca::contract {
namespace {

class scripted : public polling<scripted> {
public:
    using attempt_function = std::function<std::optional<guard>()>;

    scripted(const client& redis, attempt_function attempt)
        : polling(redis, key{"thing"}, 1ms), attempt_(std::move(attempt)) {}

private:
    friend polling<scripted>;

    [[nodiscard]] std::optional<guard> attempt() const { return attempt_(); }

    attempt_function attempt_;
};

static_assert(acquirable<scripted>);

class Polling : public ::testing::Test {
protected:
    client redis{"redis://localhost"};  // connects to nothing
};

// A failure that passes by itself is told at the deadline, not turned into "busy" - however close to it the attempt ends.
TEST_F(Polling, TellsAFailureThatEndsRightBeforeTheDeadline) {
    for (int i = 0; i < 2'000; ++i) {
        const auto deadline = clock::now() + 200us;
        const auto end = deadline - std::chrono::nanoseconds{5 * i};
        const scripted failing{redis, [&]() -> std::optional<guard> {
                                   while (clock::now() < end) {
                                   }
                                   throw error(errc::no_replicas, "on purpose");
                               }};
        ASSERT_TRUE(fails_with(errc::no_replicas, [&] { static_cast<void>(failing.try_acquire_until(deadline)); }))
            << i;
    }
}

TEST_F(Polling, WaitsOutWhatPassesAndThrowsWhatDoesNot) {
    for (const auto reason : {errc::no_replicas, errc::loading, errc::timeout, errc::max_clients}) {
        int left = 3;
        const scripted passing{redis, [&]() -> std::optional<guard> {
                                   if (left-- > 0) throw error(reason, "on purpose");
                                   return guard{};
                               }};
        EXPECT_TRUE(passing.try_acquire_for(10s));
    }
    for (const auto reason : {errc::wrong_type, errc::no_permission, errc::unknown_master, errc::server}) {
        int attempts = 0;
        const scripted failing{redis, [&]() -> std::optional<guard> {
                                   ++attempts;
                                   throw error(reason, "on purpose");
                               }};
        EXPECT_TRUE(fails_with(reason, [&] { static_cast<void>(failing.try_acquire_for(10s)); }));
        EXPECT_EQ(attempts, 1);
    }
}

// Also for a server that this client has never reached: the caller has said for how long it is willing to wait.
TEST_F(Polling, WaitsForAServerThatIsAway) {
    for (const auto reason : {errc::connect_failed, errc::connection_lost}) {
        int left = 3;
        const scripted passing{redis, [&]() -> std::optional<guard> {
                                   if (left-- > 0) throw error(reason, "on purpose");
                                   return guard{};
                               }};
        EXPECT_TRUE(fails_with(reason, [&] { static_cast<void>(passing.try_acquire()); }));
        EXPECT_TRUE(fails_with(reason, [&] { static_cast<void>(passing.try_acquire_for(0ms)); }));
        EXPECT_TRUE(passing.try_acquire_for(10s));
        left = 1'000'000;
        EXPECT_TRUE(fails_with(reason, [&] { static_cast<void>(passing.try_acquire_for(30ms)); }));
        EXPECT_LT(left, 999'999);
    }
}

TEST_F(Polling, WaitsWithoutEndForNoServerThatWasNeverReached) {
    int attempts = 0;
    const scripted failing{redis, [&]() -> std::optional<guard> {
                               ++attempts;
                               throw error(errc::connect_failed, "on purpose");
                           }};
    EXPECT_TRUE(fails_with(errc::connect_failed, [&] { static_cast<void>(failing.acquire()); }));
    EXPECT_EQ(attempts, 1);
}

TEST_F(Polling, NeverRepeatsWhatIsInDoubt) {
    int attempts = 0;
    const scripted failing{redis, [&]() -> std::optional<guard> {
                               ++attempts;
                               throw error(errc::timeout, "on purpose", effect::in_doubt);
                           }};
    EXPECT_TRUE(fails_with(errc::timeout, [&] { static_cast<void>(failing.try_acquire_for(10s)); }));
    EXPECT_EQ(attempts, 1);
}

TEST_F(Polling, LetsForeignExceptionsThrough) {
    const scripted failing{redis, []() -> std::optional<guard> { throw std::bad_alloc{}; }};
    EXPECT_THROW(static_cast<void>(failing.try_acquire_for(10s)), std::bad_alloc);
}

}  // namespace
}  // namespace tranca::contract
