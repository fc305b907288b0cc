// A reader becomes the writer in one step, once the others have left; never two that wait for each other.
#include "shared_mutex/shared_fixture.hpp"
#include "support/child_process.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::shared_mutex_test {
namespace {

class Upgrade : public shared_fixture {
protected:
    /// A thread that upgrades `held`, and what comes of it.
    class attempt {
    public:
        attempt(const shared_mutex& of, guard& held, milliseconds wait = 60s)
            : thread_{[this, of, &held, wait](const std::stop_token& stop) {
                  result_ = of.try_upgrade_for(held, wait, stop);
                  done_ = true;
              }} {}

        [[nodiscard]] bool done_within(milliseconds limit) {
            return eventually(limit, [&] { return done_.load(); });
        }
        [[nodiscard]] bool done() const { return done_; }
        [[nodiscard]] upgrade_result result() {
            thread_.join();
            return result_;
        }
        void stop() { thread_.request_stop(); }

    private:
        upgrade_result result_{};
        std::atomic<bool> done_{false};
        std::jthread thread_;
    };
};

TEST_F(Upgrade, OfTheOnlyReaderIsGrantedAtOnce) {
    auto held = readers.acquire();
    const auto before = *held.fence();
    const auto lost = held.lost();
    const auto until = held.safe_until();
    EXPECT_EQ(lock.try_upgrade(held), upgrade_result::upgraded);
    EXPECT_TRUE(held);
    EXPECT_GT(*held.fence(), before);
    EXPECT_EQ(held.safe_until(), until);
    EXPECT_EQ(held.lost(), lost);
    EXPECT_FALSE(readers.try_acquire());
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(lock.try_acquire());
}

TEST_F(Upgrade, OfAWriterChangesNothing) {
    auto held = lock.acquire();
    const auto fence = held.fence();
    raw.reset_stats();
    EXPECT_EQ(lock.try_upgrade(held), upgrade_result::upgraded);
    EXPECT_EQ(lock.try_upgrade_for(held, 1s), upgrade_result::upgraded);
    EXPECT_EQ(held.fence(), fence);
    EXPECT_EQ(raw.calls("evalsha"), 0);
}

TEST_F(Upgrade, AndDowngradeAlternate) {
    auto held = readers.acquire();
    std::uint64_t last = *held.fence();
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(lock.try_upgrade(held), upgrade_result::upgraded);
        EXPECT_GT(*held.fence(), last);
        last = *held.fence();
        EXPECT_FALSE(readers.try_acquire());
        ASSERT_TRUE(lock.downgrade(held));
        EXPECT_GT(*held.fence(), last);
        last = *held.fence();
        EXPECT_TRUE(readers.try_acquire());
    }
}

TEST_F(Upgrade, BesideAnotherReaderIsBusyAndLeavesBothAsTheyWere) {
    auto held = readers.acquire();
    auto other = readers.acquire();
    EXPECT_EQ(lock.try_upgrade(held), upgrade_result::busy);
    EXPECT_TRUE(readers.try_acquire());  // who does not wait keeps nobody out
    EXPECT_EQ(lock.try_upgrade_for(held, 50ms), upgrade_result::busy);
    EXPECT_TRUE(readers.try_acquire());  // nor does who waited
    EXPECT_TRUE(held && other);
    EXPECT_EQ(held.fence(), other.fence());
    EXPECT_EQ(holders(), 2);
}

TEST_F(Upgrade, WaitsForTheOthersToLeaveWhileNobodyEnters) {
    auto held = readers.acquire();
    auto second = readers.acquire();
    auto third = readers.acquire();
    attempt upgrade{lock, held};
    ASSERT_TRUE(asleep(1));
    EXPECT_FALSE(readers.try_acquire());
    second.release();
    EXPECT_FALSE(readers.try_acquire());
    EXPECT_FALSE(upgrade.done());
    third.release();
    EXPECT_TRUE(upgrade.done_within(400ms));
    EXPECT_EQ(upgrade.result(), upgrade_result::upgraded);
    EXPECT_FALSE(readers.try_acquire());
    held.release();
    EXPECT_TRUE(readers.try_acquire());
}

TEST_F(Upgrade, ThatGivesUpLetsTheReadersInAgain) {
    auto held = readers.acquire();
    const auto other = readers.acquire();
    int slow = 0;
    for (const bool by_stop : {true, false, true}) {
        attempt upgrade{lock, held, by_stop ? 60s : 1500ms};
        ASSERT_TRUE(asleep(1));
        waiter reader{server.url(), waiter::reader()};
        ASSERT_TRUE(asleep(2) || upgrade.done());
        if (by_stop) upgrade.stop();
        ASSERT_TRUE(upgrade.done_within(5s));
        const stopwatch since_then;
        EXPECT_TRUE(reader.granted_within(patience));
        slow += since_then.elapsed() > 200ms ? 1 : 0;
        EXPECT_EQ(upgrade.result(), upgrade_result::busy);
        EXPECT_TRUE(held);
    }
    EXPECT_LE(slow, 1);  // a timer's, by chance
}

// What would wait for one another for ever: the second is told to leave, and the first is served.
TEST_F(Upgrade, OfTwoRefusesTheSecondAtOnce) {
    auto first = readers.acquire();
    auto second = readers.acquire();
    attempt upgrade{lock, first};
    ASSERT_TRUE(asleep(1));
    const stopwatch since_then;
    EXPECT_EQ(lock.try_upgrade(second), upgrade_result::refused);
    EXPECT_EQ(lock.try_upgrade_for(second, 60s), upgrade_result::refused);
    EXPECT_LT(since_then.elapsed(), 1s);
    EXPECT_TRUE(second);
    EXPECT_FALSE(upgrade.done());
    second.release();
    EXPECT_TRUE(upgrade.done_within(400ms));
    EXPECT_EQ(upgrade.result(), upgrade_result::upgraded);
}

TEST_F(Upgrade, GoesInFrontOfAWriterThatWaits) {
    auto held = readers.acquire();
    auto other = readers.acquire();
    waiter writer{server.url(), waiter::writer()};
    ASSERT_TRUE(asleep(1));
    attempt upgrade{lock, held};
    ASSERT_TRUE(asleep(2));
    other.release();
    EXPECT_TRUE(upgrade.done_within(400ms));
    EXPECT_EQ(upgrade.result(), upgrade_result::upgraded);
    EXPECT_FALSE(writer.done());
    held.release();
    EXPECT_TRUE(writer.granted_within(400ms));
}

TEST_F(Upgrade, ThatDiedKeepsReadersOutForTwoSecondsAndWritersForItsTtl) {
    auto other = readers.acquire();
    testing::child_process dead{[&] {
        const client own{server.url()};
        const shared_mutex theirs{own, "thing", lasting(4s)};
        auto held = theirs.shared().acquire();
        static_cast<void>(theirs.try_upgrade_for(held, 60s));
    }};
    ASSERT_TRUE(asleep(1));
    EXPECT_FALSE(readers.try_acquire());
    dead.kill_hard();
    const stopwatch since_then;
    EXPECT_TRUE(readers.try_acquire_for(patience));
    EXPECT_LT(since_then.elapsed(), 3s);
    other.release();
    EXPECT_TRUE(lock.try_acquire_for(patience));
    EXPECT_LT(since_then.elapsed(), 5500ms);
}

TEST_F(Upgrade, ServesTheReaderThatOutlivesADeadOne) {
    auto held = readers.acquire();
    lock_for(400ms).shared().acquire().abandon();
    const stopwatch since_then;
    EXPECT_EQ(lock.try_upgrade_for(held, patience), upgrade_result::upgraded);
    EXPECT_LT(since_then.elapsed(), 1s);
}

TEST_F(Upgrade, OfALostLeaseTellsTheLoss) {
    auto held = readers.acquire();
    const auto lost = held.lost();
    raw.del(main_key);
    EXPECT_EQ(lock.try_upgrade(held), upgrade_result::lost);
    EXPECT_FALSE(held);
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_EQ(raw.exists(main_key), 0);
    guard empty;
    EXPECT_EQ(lock.try_upgrade(empty), upgrade_result::lost);
}

TEST_F(Upgrade, ThatOutlivesItsLeaseIsLost) {
    auto held = lock_for(400ms).shared().acquire();
    const auto other = readers.acquire();
    const stopwatch since_then;
    EXPECT_EQ(lock.try_upgrade_for(held, patience), upgrade_result::lost);
    EXPECT_LT(since_then.elapsed(), 3s);
    EXPECT_FALSE(held);
}

TEST_F(Upgrade, OfAnotherLocksGuardIsRefused) {
    auto held = shared_mutex{redis, "other"}.shared().acquire();
    EXPECT_EQ(reason_of([&] { static_cast<void>(lock.try_upgrade(held)); }), errc::invalid_argument);
    EXPECT_EQ(reason_of([&] { static_cast<void>(lock.try_upgrade_for(held, -1ms)); }), errc::invalid_argument);
    EXPECT_TRUE(held);
}

TEST_F(Upgrade, KeepsItsRenewalAndTellsALaterLoss) {
    const shared_mutex brief{redis, "thing", {.lease = {.ttl = 900ms}}};
    auto held = brief.shared().acquire();
    const auto lost = held.lost();
    auto other = lock_for(10s).shared().acquire();
    attempt upgrade{brief, held};
    EXPECT_TRUE(throughout(1100ms, [&] { return !!held; }));  // renewed while it waits
    other.release();
    ASSERT_EQ(upgrade.result(), upgrade_result::upgraded);
    EXPECT_TRUE(throughout(1100ms, [&] { return !!held; }));
    EXPECT_FALSE(readers.try_acquire());
    raw.del(main_key);
    EXPECT_TRUE(eventually(2s, [&] { return lost.stop_requested(); }));
}

// A wait asks again under the same token and finds itself the writer.
TEST_F(Upgrade, WhoseAnswerWasLostIsRepeatedByAWait) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=200ms"};
    const shared_mutex far{through, "thing", lasting(10s)};
    auto held = far.shared().acquire();
    ASSERT_EQ(far.try_upgrade(held), upgrade_result::upgraded);
    ASSERT_TRUE(far.downgrade(held));
    for (const auto how : {testing::ending::reset, testing::ending::keep_open}) {
        gate.swallow_reply("EVALSHA", how);
        upgrade_result result{};
        const auto failure = reason_of([&] { result = far.try_upgrade_for(held, 5s); });
        EXPECT_TRUE(held);
        EXPECT_TRUE(failure || result == upgrade_result::upgraded);
        // Undone, or the writer: in any case what is told is what is so.
        EXPECT_EQ(readers.try_acquire().has_value(), failure.has_value());
        EXPECT_TRUE(far.downgrade(held));
        EXPECT_TRUE(readers.try_acquire());
    }
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(raw.exists(main_key), 0);
}

// Undone: nobody is a writer without knowing it.
TEST_F(Upgrade, WhoseAnswerNeverCameIsUndone) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=200ms"};
    const shared_mutex far{through, "thing", lasting(10s)};
    auto held = far.shared().acquire();
    ASSERT_EQ(far.try_upgrade(held), upgrade_result::upgraded);
    ASSERT_TRUE(far.downgrade(held));
    gate.swallow_reply("EVALSHA", testing::ending::keep_open);
    try {
        static_cast<void>(far.try_upgrade(held));
        ADD_FAILURE() << "nobody answered";
    } catch (const error& failure) {
        EXPECT_EQ(failure.reason(), errc::timeout);
        EXPECT_FALSE(failure.in_doubt());
    }
    EXPECT_TRUE(held);
    EXPECT_EQ(lock.holders().at(0).mode, lock_mode::shared);
    EXPECT_TRUE(readers.try_acquire());
    EXPECT_EQ(far.try_upgrade(held), upgrade_result::upgraded);
}

// What was given up and comes later, over a connection that was slow, changes nothing any more.
class LateChange : public shared_fixture {
protected:
    void SetUp() override {
        auto held = far.shared().acquire();  // the scripts and the rights are known
        ASSERT_EQ(far.try_upgrade(held), upgrade_result::upgraded);
        ASSERT_TRUE(far.downgrade(held));
        held.release();
        raw.reset_stats();
    }

    /// Lets what was held go, and waits until the server has run so many of each.
    void let_go(std::int64_t hashes, std::int64_t texts = 0) {
        hashes += raw.calls("evalsha");
        texts += raw.calls("eval");
        gate.let_go();
        ASSERT_TRUE(eventually(patience, [&] { return raw.calls("evalsha") >= hashes && raw.calls("eval") >= texts; }));
    }

    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=500ms"};
    const shared_mutex far{through, "thing", lasting(30s)};
};

TEST_F(LateChange, OfADowngradeLeavesAWriterAlone) {
    auto held = far.acquire();
    gate.hold("EVALSHA");
    EXPECT_EQ(reason_of([&] { static_cast<void>(far.downgrade(held)); }), errc::timeout);
    ASSERT_EQ(far.try_upgrade(held), upgrade_result::upgraded);
    let_go(1);
    EXPECT_FALSE(readers.try_acquire());
    EXPECT_EQ(lock.holders().at(0).fence, held.fence());
    EXPECT_EQ(lock.holders().at(0).mode, lock_mode::exclusive);
}

TEST_F(LateChange, OfAnUpgradeAndItsUndoingLeaveAWriterAlone) {
    auto held = far.shared().acquire();
    gate.hold("EVALSHA");
    gate.hold("EVAL");
    EXPECT_EQ(reason_of([&] { static_cast<void>(far.try_upgrade(held)); }), errc::timeout);
    ASSERT_EQ(far.try_upgrade(held), upgrade_result::upgraded);
    let_go(1, 1);
    EXPECT_FALSE(readers.try_acquire());
    EXPECT_EQ(lock.holders().at(0).fence, held.fence());
    EXPECT_EQ(lock.holders().at(0).mode, lock_mode::exclusive);
}

TEST_F(LateChange, OfAnUpgradeLeavesAReaderAReader) {
    auto held = far.shared().acquire();
    gate.hold("EVALSHA");
    EXPECT_EQ(reason_of([&] { static_cast<void>(far.try_upgrade(held)); }), errc::timeout);
    EXPECT_TRUE(held);
    let_go(1);
    EXPECT_EQ(lock.holders().at(0).mode, lock_mode::shared);
    EXPECT_TRUE(readers.try_acquire());
}

// Readers that all want to write: each release lets one of them through, and none is alone with another.
TEST_F(Upgrade, OfManyNeverDeadlocks) {
    std::atomic<int> writing{0};
    std::atomic<int> upgraded{0};
    const auto work = [&] {
        const client own{server.unix_url()};
        const shared_mutex mine{own, "thing", lasting(10s)};
        for (int i = 0; i < 25; ++i) {
            auto held = mine.shared().acquire();
            if (mine.try_upgrade_for(held, 20s) != upgrade_result::upgraded) continue;
            EXPECT_EQ(++writing, 1);
            ++upgraded;
            --writing;
        }
    };
    const stopwatch since_then;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 6; ++i)
            threads.emplace_back(work);
    }
    EXPECT_LT(since_then.elapsed(), 20s);
    EXPECT_GE(upgraded, 25);
    EXPECT_EQ(raw.exists(main_key), 0);
}

}  // namespace
}  // namespace tranca::shared_mutex_test
