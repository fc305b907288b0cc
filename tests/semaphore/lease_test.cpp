// Each holder's own time: what a crash costs, and what neither a contender nor a late holder can do.
#include <atomic>
#include <memory>
#include <set>
#include <thread>

#include "semaphore/semaphore_fixture.hpp"
#include "support/child_process.hpp"
#include "support/process_barrier.hpp"
#include "support/shared_memory.hpp"
#include "support/tcp_gate.hpp"
#include "thrown_by.hpp"

namespace tranca::semaphore_test {
namespace {

class Holder : public semaphore_fixture {};

TEST_F(Holder, ThatWasKilledFreesItsSlotAtItsTtl) {
    testing::shared_memory<testing::process_barrier> inside{4u};
    const auto url = server.url();
    std::vector<std::unique_ptr<testing::child_process>> holders;
    for (int i = 0; i < 3; ++i)
        holders.push_back(std::make_unique<testing::child_process>([&] {
            const client own{url};
            const auto held = semaphore{own, "thing", 3, {.lease = {.ttl = 1s}}}.acquire();
            static_cast<void>(inside->wait(patience));
            std::this_thread::sleep_for(patience);  // until it is killed
        }));
    ASSERT_TRUE(inside->wait(patience));
    EXPECT_FALSE(limited_to(3).try_acquire());
    for (const auto& holder : holders)
        holder->kill_hard();
    const stopwatch since_the_kill;
    const auto calls = limited_to(3);
    const auto first = calls.try_acquire_for(patience);
    const auto second = calls.try_acquire_for(patience);
    const auto third = calls.try_acquire_for(patience);
    EXPECT_TRUE(first && second && third);
    EXPECT_LT(since_the_kill.elapsed(), 2s);
    EXPECT_FALSE(calls.try_acquire());
}

// Scores are the server's time: a client's clock has no part in them.
TEST_F(Holder, EndsByTheClockOfTheServer) {
    const auto now = [&] {
        const auto time = raw.must({"TIME"});
        return std::stoll(time[0].text) * 1'000 + std::stoll(time[1].text) / 1'000;
    };
    const auto before = now();
    const auto held = limited_to(1, 60s).acquire();
    const auto after = now();
    const auto end = std::stoll(raw.must({"ZRANGE", "semaphore:thing", "0", "0", "WITHSCORES"})[1].text);
    EXPECT_GE(end, before + 60'000);
    EXPECT_LE(end, after + 60'000);
}

// The server counts whole milliseconds: it takes none of them from a holder's time.
TEST_F(Holder, BelievesForNoLongerThanTheServerDoes) {
    const semaphore brief{redis, "thing", 1, {.lease = {.ttl = 15ms, .renew_every = 0ms, .margin = 0ms}}};
    const auto granted = [&] {
        std::optional<guard> held;
        // On a machine that stood still, an answer may come when it is worth nothing any more.
        while (!held) {
            const auto late = testing::thrown_by([&] { held = brief.try_acquire(); });
            if (late && late->reason() != errc::timeout) throw *late;
        }
        return *std::move(held);
    };
    for (int round = 0; round < 40; ++round) {
        const auto held = granted();
        const auto next = granted();
        EXPECT_FALSE(held);
    }
}

TEST_F(Holder, ThatIsLateReleasesNobodyElsesSlot) {
    auto late = limited_to(1).acquire();
    let_lapse();
    const auto next = limited_to(1).acquire();
    EXPECT_EQ(late.release(), release_result::expired);
    EXPECT_FALSE(limited_to(1).try_acquire());
    EXPECT_EQ(members(), 1);
}

TEST_F(Holder, ThatIsLateIsNotToldThatItReleased) {
    auto late = limited_to(1).acquire();
    let_lapse();
    EXPECT_EQ(late.release(), release_result::expired);  // nobody has come since, and still it was over
    EXPECT_EQ(limited_to(1).available(), 1);
}

TEST_F(Holder, KeepsItsTimeWhateverTtlAContenderHas) {
    const auto held = limited_to(2, 60s).acquire();
    const auto token = raw.must({"ZRANGE", "semaphore:thing", "0", "0"})[0].text;
    const auto end = raw.must({"ZSCORE", "semaphore:thing", token}).text;
    {
        const auto brief = limited_to(2, 2s).acquire();  // outlasts the contenders
        EXPECT_FALSE(limited_to(2, 10ms).try_acquire());
        EXPECT_FALSE(limited_to(2, 10ms).try_acquire_for(30ms));
    }
    EXPECT_TRUE(limited_to(2, 50ms).try_acquire_for(patience));
    EXPECT_EQ(raw.must({"ZSCORE", "semaphore:thing", token}).text, end);
    EXPECT_GT(raw.pttl("semaphore:thing"), 50'000);
    EXPECT_TRUE(held);
}

TEST_F(Holder, LeavesNothingForEver) {
    {
        auto held = limited_to(3, 1s).acquire();
        const auto longer = limited_to(3, 300s).acquire();
        auto other = limited_to(3, 200ms).weighted(1).acquire();
        EXPECT_FALSE(limited_to(3).try_acquire_for(20ms));
        EXPECT_TRUE(held.extend());
        for (const auto& key : raw.keys())
            EXPECT_GT(raw.pttl(key), 0) << key;
        EXPECT_GT(raw.pttl("semaphore:thing"), 290'000);
        other.abandon();
    }
    for (const auto& key : raw.keys())
        EXPECT_GT(raw.pttl(key), 0) << key;
    // A lease longer than the state's own day keeps the state as well.
    auto century = limited_to(3, longest_duration).acquire();
    EXPECT_GT(raw.pttl("{semaphore:thing}:state"), longest_duration.count() - 10'000);
}

// They are thrown out by whoever comes next, and with the last of them goes the set that had the ttl.
TEST_F(Holder, WhoFollowsThoseWhoLapsedLeavesNothingForEverEither) {
    for (const auto order : {fairness::off, fairness::on}) {
        raw.flush();
        const semaphore calls{redis, "thing", 1, {.lease = {.renew_every = 0ms}, .fairness = order}};
        const auto late = calls.try_acquire();
        let_lapse();
        const auto next = calls.try_acquire();
        ASSERT_TRUE(late && next);
        EXPECT_GT(raw.pttl("semaphore:thing"), 10'000);
    }
}

TEST_F(Holder, ThatIsLostIsNeverInsertedAgainByItsRefresh) {
    auto lost = limited_to(1).acquire();
    raw.must({"ZREM", "semaphore:thing", raw.must({"ZRANGE", "semaphore:thing", "0", "0"})[0].text});
    const auto next = limited_to(1).acquire();
    for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(lost.extend());
        EXPECT_EQ(members(), 1);
    }
    EXPECT_TRUE(next);
}

TEST_F(Holder, WhoseTimeIsOverOnTheServerIsNotRefreshedThoughNobodyCame) {
    auto late = limited_to(1).acquire();
    let_lapse();
    EXPECT_FALSE(late.extend());
    EXPECT_EQ(limited_to(1).available(), 1);
}

TEST_F(Holder, ThatRenewsIsNeverThrownOutByContenders) {
    const semaphore calls{redis, "thing", 2, {.lease = {.ttl = 900ms}}};
    const auto first = calls.acquire();
    const auto second = calls.acquire();
    std::atomic<int> admitted{0};
    {
        std::vector<std::jthread> contenders;
        for (int i = 0; i < 8; ++i)
            contenders.emplace_back([&] { admitted += calls.try_acquire_for(1500ms) ? 1 : 0; });
    }
    EXPECT_EQ(admitted, 0);
    EXPECT_TRUE(first && second);
}

TEST_F(Holder, WhoseAnswerWasLostFindsItsOwnSlotAndFence) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=200ms"};
    const semaphore calls{through, "thing", 2, {.lease = {.ttl = 10s}}};
    calls.acquire().release();
    gate.swallow_reply("EVALSHA", testing::ending::reset);
    auto held = calls.try_acquire_for(patience);
    ASSERT_TRUE(held);
    EXPECT_EQ(calls.available(), 1);
    EXPECT_EQ(members(), 1);
    const auto listed = calls.holders();
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0].fence, held->fence());
    EXPECT_EQ(listed[0].slots, slots_of(*held));
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_EQ(calls.available(), 2);
}

TEST_F(Holder, OfAFlushedServerLosesItAndTheLimitBeginsAnew) {
    auto lost = limited_to(1).acquire();
    raw.flush();
    const auto next = limited_to(1).acquire();
    EXPECT_FALSE(lost.extend());
    EXPECT_EQ(lost.release(), release_result::expired);
    EXPECT_FALSE(limited_to(1).try_acquire());
    EXPECT_EQ(next.slot(), 0);
}

TEST_F(Holder, OfASetThatIsGoneLeavesLimitAndFence) {
    auto lost = limited_to(2).acquire();
    const auto fence = *lost.fence();
    set_fence(fence + 60'000'000);  // ahead of the clock
    raw.del("semaphore:thing");
    EXPECT_EQ(limited_to(2).available(), 2);
    EXPECT_TRUE(limited_to(2).holders().empty());
    EXPECT_EQ(reason_of([&] { static_cast<void>(limited_to(3).try_acquire()); }), errc::limit_differs);
    const auto first = limited_to(2).acquire();
    const auto second = limited_to(2).acquire();
    EXPECT_GT(*first.fence(), fence + 60'000'000);
    EXPECT_EQ(std::set({*first.slot(), *second.slot()}), (std::set<std::int64_t>{0, 1}));
    EXPECT_EQ(lost.release(), release_result::expired);
    EXPECT_FALSE(limited_to(2).try_acquire());
}

TEST_F(Holder, OfAStateThatIsGoneStillCounts) {
    auto held = limited_to(2).acquire();
    raw.del("{semaphore:thing}:state");
    EXPECT_EQ(limited_to(2).available(), 1);
    const auto second = limited_to(2).acquire();
    EXPECT_FALSE(limited_to(2).try_acquire());
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(limited_to(2).try_acquire());
}

// Nobody with a shorter lease shortens the key under the others.
TEST_F(Holder, OfAStateThatIsGoneKeepsItsTime) {
    auto held = limited_to(2, 1h).acquire();
    raw.del("{semaphore:thing}:state");
    auto brief = limited_to(2, 1s).acquire();
    EXPECT_GT(raw.pttl("semaphore:thing"), 3'500'000);
    raw.del("{semaphore:thing}:state");
    EXPECT_TRUE(brief.extend());
    EXPECT_GT(raw.pttl("semaphore:thing"), 3'500'000);
    EXPECT_TRUE(held.extend(2h));
    EXPECT_GT(raw.pttl("semaphore:thing"), 7'100'000);
}

}  // namespace
}  // namespace tranca::semaphore_test
