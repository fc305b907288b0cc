// The loss of a lease is told before the key can expire, even by a server that says nothing; once, and only then.
#include <atomic>
#include <thread>

#include "contract/contract.hpp"
#include "support/faults.hpp"

namespace tranca::contract {
namespace {

class Loss : public contract {
protected:
    /// When the loss was told; max() before.
    class told_at {
    public:
        explicit told_at(const guard& held) : on_loss_(held.lost(), [this] { mark(); }) {}

        [[nodiscard]] clock::time_point time() const { return clock::time_point{clock::duration{when_.load()}}; }
        [[nodiscard]] bool told() const { return calls_ > 0; }
        [[nodiscard]] int calls() const { return calls_; }

    private:
        void mark() {
            when_ = clock::now().time_since_epoch().count();
            ++calls_;
        }

        std::atomic<clock::rep> when_{clock::time_point::max().time_since_epoch().count()};
        std::atomic<int> calls_{0};
        std::stop_callback<std::function<void()>> on_loss_;
    };
};

TEST_P(Loss, IsToldBeforeTheKeyCanExpireEvenByAFrozenServer) {
    const milliseconds ttl = 1s;
    const auto before = clock::now();
    auto held = make({.ttl = ttl, .margin = 600ms}).acquire();
    const told_at loss{held};
    const auto frozen = testing::frozen(server);
    EXPECT_TRUE(eventually(5s, [&] { return loss.told(); }));
    EXPECT_GE(loss.time(), held.safe_until());
    EXPECT_LT(loss.time(), before + ttl);  // the server began to count later than `before`
    EXPECT_FALSE(held);
    EXPECT_TRUE(eventually(1s, [&] { return events.count(event::kind::lease_lost) == 1; }));
}

TEST_P(Loss, IsToldWhenTheServerIsGone) {
    auto held = make({.ttl = 200ms}).acquire();
    const told_at loss{held};
    server.kill_hard();
    EXPECT_TRUE(eventually(5s, [&] { return loss.told(); }));
    server.start_again();
    EXPECT_EQ(loss.calls(), 1);
}

TEST_P(Loss, IsToldOnceWhoeverFindsOut) {
    for (int i = 0; i < 10; ++i) {
        auto held = make({.ttl = 50ms}).acquire();
        const told_at loss{held};
        const auto until = held.safe_until();
        EXPECT_TRUE(eventually(2s, [&] { return clock::now() >= until; }));
        EXPECT_FALSE(held.extend());  // while the timer finds it out as well
        EXPECT_TRUE(eventually(2s, [&] { return loss.told(); }));
        EXPECT_EQ(loss.calls(), 1);
        held.release();
    }
    EXPECT_EQ(events.count(event::kind::lease_lost), 10) << events.text();
}

TEST_P(Loss, IsMovedOnByAnExtension) {
    auto held = make({.ttl = 10s}).acquire();
    ASSERT_TRUE(held.extend(600ms));
    const told_at loss{held};
    const auto first_end = held.safe_until();
    ASSERT_TRUE(held.extend());
    EXPECT_TRUE(eventually(2s, [&] { return clock::now() > first_end + 50ms; }));
    EXPECT_FALSE(loss.told());
    EXPECT_TRUE(held);
}

TEST_P(Loss, IsNotToldAfterARelease) {
    auto held = make({.ttl = 300ms}).acquire();
    const told_at loss{held};
    const auto end = held.safe_until();
    held.release();
    EXPECT_TRUE(eventually(2s, [&] { return clock::now() > end + 50ms; }));
    EXPECT_FALSE(loss.told());
    EXPECT_EQ(events.count(event::kind::lease_lost), 0);
}

TEST_P(Loss, IsNotToldAfterAbandoning) {
    auto held = make({.ttl = 300ms}).acquire();
    const told_at loss{held};
    const auto end = held.safe_until();
    held.abandon();
    EXPECT_TRUE(eventually(2s, [&] { return clock::now() > end + 50ms; }));
    EXPECT_FALSE(loss.told());
    EXPECT_EQ(events.size(), 0u) << events.text();
}

TEST_P(Loss, IsKnownAtOnceToWhoAsksLate) {
    auto held = make({.ttl = 60ms}).acquire();
    EXPECT_TRUE(eventually(2s, [&] { return !held; }));
    EXPECT_TRUE(held.lost().stop_requested());
}

TEST_P(Loss, OutlivesTheClient) {
    std::optional<client> closing{std::in_place, server.url()};
    auto held = make_on(*closing, {.ttl = 100ms}).acquire();
    const told_at loss{held};
    closing.reset();
    EXPECT_TRUE(eventually(5s, [&] { return loss.told(); }));
}

TEST_P(Loss, MayBeAnsweredByUsingTheGuard) {
    auto held = make({.ttl = 80ms}).acquire();
    std::atomic<int> calls{0};
    std::atomic<int> extended{0};
    const std::stop_callback on_loss{held.lost(), [&] {
                                         extended = held.extend() ? 1 : 0;
                                         held.release();
                                         static_cast<void>(make().try_acquire());  // and released
                                         ++calls;
                                     }};
    EXPECT_TRUE(eventually(5s, [&] { return calls == 1; }));
    EXPECT_EQ(extended, 0);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_P(Loss, MayBeAnsweredByDestroyingGuardAndClient) {
    auto owned = std::make_unique<client>(server.url());
    auto held = std::make_unique<guard>(make_on(*owned, {.ttl = 80ms}).acquire());
    std::atomic<bool> done{false};
    const std::stop_callback on_loss{held->lost(), [&] {
                                         held.reset();
                                         owned.reset();
                                         done = true;
                                     }};
    EXPECT_TRUE(eventually(5s, [&] { return done.load(); }));
}

TEST_P(Loss, OfOneIsNotDelayedByTheListenersOfOthers) {
    std::atomic<bool> go_on{false};
    std::atomic<int> blocked{0};
    const auto block = [&] {
        ++blocked;
        EXPECT_TRUE(eventually(20s, [&] { return go_on.load(); }));
    };
    const auto first = make({.name = "first", .ttl = 60ms}).acquire();
    const std::stop_callback on_first{first.lost(), block};
    const auto second = make({.name = "second", .ttl = 60ms}).acquire();
    const std::stop_callback on_second{second.lost(), block};
    EXPECT_TRUE(eventually(5s, [&] { return blocked == 2; }));
    const auto other = make({.ttl = 100ms}).acquire();
    const told_at loss{other};
    EXPECT_TRUE(eventually(5s, [&] { return loss.told(); }));
    EXPECT_FALSE(go_on);
    go_on = true;
}

OVER_MODELS_WHERE(has_ttl, Loss);

}  // namespace
}  // namespace tranca::contract
