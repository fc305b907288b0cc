// One lease for all names: how it is renewed, lost and released when one of them is no longer ours.
#include "multi_mutex/multi_fixture.hpp"
#include "support/child_process.hpp"
#include "support/faults.hpp"
#include "support/process_barrier.hpp"
#include "support/shared_memory.hpp"

namespace tranca::multi_test {
namespace {

class Holder : public multi_fixture {};

TEST_F(Holder, ExtendsAllOfThem) {
    auto held = both(lasting(2s)).acquire();
    EXPECT_TRUE(held.extend(60s));
    EXPECT_GT(raw.pttl("lock:a"), 50'000);
    EXPECT_GT(raw.pttl("lock:b"), 50'000);
    EXPECT_TRUE(held.extend(1s));  // sets, never adds
    EXPECT_LE(raw.pttl("lock:a"), 1'000);
    EXPECT_LE(raw.pttl("lock:b"), 1'000);
}

TEST_F(Holder, ThatLostOneNameExtendsNoneAndCreatesNone) {
    for (const std::string gone : {"a", "b"}) {
        const std::string other = gone == "a" ? "b" : "a";
        auto held = both(lasting(5s)).acquire();
        raw.del("lock:" + gone);
        EXPECT_FALSE(held.extend(60s));
        EXPECT_FALSE(held);
        EXPECT_TRUE(held.lost().stop_requested());
        EXPECT_EQ(raw.exists("lock:" + gone), 0);
        EXPECT_LE(raw.pttl("lock:" + other), 5'000);
        EXPECT_EQ(held.release(), release_result::expired);
        EXPECT_THAT(keys_left(), ::testing::IsEmpty()) << "the survivor is freed";
    }
}

TEST_F(Holder, ReleasesTheSurvivorsOfANameThatAnotherTook) {
    auto held = both().acquire();
    raw.del("lock:a");
    const auto newer = single("a").acquire();
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_EQ(raw.exists("lock:b"), 0);
    EXPECT_EQ(raw.exists("lock:a"), 1);
    EXPECT_TRUE(newer);
}

TEST_F(Holder, ReleasesTheSurvivorsOfANameOfAnotherType) {
    auto held = both().acquire();
    testing::make_wrong_type(server, "lock:a");
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_EQ(raw.exists("lock:b"), 0);
    EXPECT_EQ(raw.must({"LLEN", "lock:a"}).integer, 1);
}

TEST_F(Holder, IsRenewedAtAllNamesForAsLongAsItLives) {
    {
        const auto held = both(lasting(900ms, std::nullopt)).acquire();
        EXPECT_TRUE(throughout(1200ms, [&] { return raw.exists("lock:a") == 1 && raw.exists("lock:b") == 1; }));
        EXPECT_TRUE(held);
    }
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_F(Holder, IsToldByARenewalThatOneNameIsGone) {
    const auto held = both(lasting(3s, 50ms)).acquire();
    const auto lost = held.lost();
    const auto until = held.safe_until();
    raw.del("lock:b");
    EXPECT_TRUE(eventually(1s, [&] { return lost.stop_requested(); }));
    EXPECT_LT(clock::now(), until);
    EXPECT_EQ(raw.exists("lock:b"), 0);
}

TEST_F(Holder, IsToldInTimeOnAFrozenServer) {
    const auto held = both(lasting(400ms, std::nullopt)).acquire();
    const auto lost = held.lost();
    const auto frozen = testing::frozen(server);
    EXPECT_TRUE(eventually(2s, [&] { return lost.stop_requested(); }));
    EXPECT_FALSE(held);
}

TEST_F(Holder, ThatIsEvictedFromOneNameIsToldSo) {
    auto held = both(lasting(10s)).acquire();
    raw.must({"PERSIST", "lock:b"});  // so that only the other one can go
    raw.must({"PERSIST", "{lock:a}:fence"});
    raw.must({"PERSIST", "{lock:b}:fence"});
    ASSERT_EQ(testing::evict_keys_with_ttl(server), 1);
    EXPECT_FALSE(held.extend());
    EXPECT_EQ(raw.exists("lock:a"), 0);
}

TEST_F(Holder, ThatWasKilledBlocksForItsTtl) {
    testing::shared_memory<testing::process_barrier> inside{2u};
    const auto url = server.url();
    testing::child_process child{[&] {
        const client own{url};
        const auto held = multi_mutex{own, {"a", "b"}, lasting(600ms, std::nullopt)}.acquire();
        static_cast<void>(inside->wait(patience));
        std::this_thread::sleep_for(patience);  // until it is killed
    }};
    ASSERT_TRUE(inside->wait(patience));
    child.kill_hard();
    const stopwatch since_the_kill;
    const auto next = both().try_acquire_for(patience);
    EXPECT_TRUE(next);
    EXPECT_LT(since_the_kill.elapsed(), 1500ms);
}

// Case R02: whatever is taken is given back, in whatever order names come and go.
TEST_F(Holder, LeavesNothingForEver) {
    {
        auto held = both().acquire();
        EXPECT_FALSE(both().try_acquire_for(20ms));
        EXPECT_FALSE(single("b").try_acquire_for(20ms));
        for (const auto& key : raw.keys())
            EXPECT_GT(raw.pttl(key), 0) << key;
        held.abandon();
    }
    EXPECT_EQ(raw.exists("lock:a"), 1);
    for (const auto& key : raw.keys())
        EXPECT_GT(raw.pttl(key), 0) << key;
}

}  // namespace
}  // namespace tranca::multi_test
