// A writer becomes a reader in one step.
#include "shared_mutex/shared_fixture.hpp"
#include "support/faults.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::shared_mutex_test {
namespace {

class Downgrade : public shared_fixture {};

TEST_F(Downgrade, LetsReadersInAtOnceAndNoWriter) {
    auto held = lock.acquire();
    const auto before = *held.fence();
    ASSERT_TRUE(lock.downgrade(held));
    EXPECT_TRUE(held);
    EXPECT_GT(*held.fence(), before);
    const auto beside = readers.try_acquire();
    ASSERT_TRUE(beside);
    EXPECT_EQ(beside->fence(), held.fence());
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(holders(), 1);
}

TEST_F(Downgrade, IsOneRoundTripAndKeepsTheLease) {
    auto held = lock.acquire();
    const auto until = held.safe_until();
    const auto end = std::stoll(entry(token_of_the_first()));
    const auto lost = held.lost();
    static_cast<void>(lock.downgrade(held));  // the script is known
    raw.reset_stats();
    ASSERT_TRUE(lock.downgrade(held));
    EXPECT_EQ(raw.calls("evalsha"), 1);
    EXPECT_EQ(held.safe_until(), until);
    EXPECT_EQ(std::stoll(entry(token_of_the_first())), end);
    EXPECT_EQ(held.lost(), lost);
}

TEST_F(Downgrade, OfAReaderChangesNothing) {
    auto held = readers.acquire();
    const auto fence = held.fence();
    EXPECT_TRUE(lock.downgrade(held));
    EXPECT_EQ(held.fence(), fence);
    EXPECT_EQ(holders(), 1);
}

TEST_F(Downgrade, WakesTheReadersThatWait) {
    auto held = lock.acquire();
    waiter first{server.url(), waiter::reader()};
    waiter second{server.url(), waiter::reader()};
    ASSERT_TRUE(asleep(2));
    ASSERT_TRUE(lock.downgrade(held));
    EXPECT_TRUE(first.granted_within(400ms));
    EXPECT_TRUE(second.granted_within(400ms));
    EXPECT_TRUE(held);
}

TEST_F(Downgrade, LetsNoReaderInFrontOfAWriterThatWaits) {
    auto held = lock.acquire();
    waiter writer{server.url(), waiter::writer()};
    ASSERT_TRUE(asleep(1));
    ASSERT_TRUE(lock.downgrade(held));
    EXPECT_FALSE(readers.try_acquire());
    EXPECT_FALSE(writer.done());
    held.release();
    EXPECT_TRUE(writer.granted_within(400ms));
}

TEST_F(Downgrade, OfALostLeaseTellsTheLoss) {
    auto held = lock.acquire();
    const auto lost = held.lost();
    raw.del(main_key);
    EXPECT_FALSE(lock.downgrade(held));
    EXPECT_FALSE(held);
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_EQ(raw.exists(main_key), 0);
    guard empty;
    EXPECT_FALSE(lock.downgrade(empty));
}

TEST_F(Downgrade, OfAnotherLocksGuardIsRefused) {
    const shared_mutex other{redis, "other"};
    auto held = other.acquire();
    EXPECT_EQ(reason_of([&] { static_cast<void>(lock.downgrade(held)); }), errc::invalid_argument);
    auto foreign = mutex{redis, "a mutex"}.acquire();
    EXPECT_EQ(reason_of([&] { static_cast<void>(lock.downgrade(foreign)); }), errc::invalid_argument);
    const client second{server.url()};
    auto elsewhere = shared_mutex{second, "thing"}.acquire();
    EXPECT_EQ(reason_of([&] { static_cast<void>(lock.downgrade(elsewhere)); }), errc::invalid_argument);
    EXPECT_TRUE(held && foreign && elsewhere);
}

// Whatever was heard of it, the guard holds on, and a second attempt tells its number.
TEST_F(Downgrade, WhoseAnswerWasLostCanBeRepeated) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=200ms"};
    const shared_mutex far{through, "thing", lasting(10s)};
    auto held = far.acquire();
    gate.swallow_reply("EVALSHA", testing::ending::keep_open);
    EXPECT_EQ(reason_of([&] { static_cast<void>(far.downgrade(held)); }), errc::timeout);
    EXPECT_TRUE(held);
    ASSERT_TRUE(far.downgrade(held));
    const auto beside = readers.try_acquire();
    ASSERT_TRUE(beside);
    EXPECT_EQ(held.fence(), beside->fence());
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(Downgrade, AndUpgradeGoOnWithoutTheirScripts) {
    auto held = readers.acquire();
    for (int i = 0; i < 3; ++i) {
        testing::flush_scripts(server);
        EXPECT_EQ(lock.try_upgrade(held), upgrade_result::upgraded);
        testing::flush_scripts(server);
        EXPECT_TRUE(lock.downgrade(held));
        testing::flush_scripts(server);
        EXPECT_EQ(lock.try_upgrade_for(held, 1s), upgrade_result::upgraded);
        testing::flush_scripts(server);
        EXPECT_TRUE(lock.downgrade(held));
        testing::flush_scripts(server);
        EXPECT_EQ(lock.holders().size(), 1u);
    }
    EXPECT_EQ(held.release(), release_result::released);
}

// In the moment of the change no other writer gets in: each sees what the last one left.
TEST_F(Downgrade, HasNobodyInBetween) {
    std::atomic<int> value{0};
    const auto work = [&] {
        const client own{server.unix_url()};
        const shared_mutex mine{own, "thing", lasting(10s)};
        for (int i = 0; i < 40; ++i) {
            auto held = mine.acquire();
            const int written = ++value;
            ASSERT_TRUE(mine.downgrade(held));
            EXPECT_EQ(value, written);
        }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back(work);
}

}  // namespace
}  // namespace tranca::shared_mutex_test
