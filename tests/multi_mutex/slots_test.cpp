// Names in several slots of a Cluster: one node that has all slots, and refuses keys of two in one command. Case N02.
#include <random>

#include "multi_mutex/multi_fixture.hpp"
#include "support/account.hpp"
#include "support/faults.hpp"
#include "support/monitor_reader.hpp"
#include "support/seed.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::multi_test {
namespace {

class Slots : public ::testing::Test {
protected:
    static void SetUpTestSuite() { node = testing::single_node_cluster(); }  // takes some seconds
    static void TearDownTestSuite() { node.reset(); }
    void SetUp() override { raw.flush(); }

    [[nodiscard]] multi_mutex three(const multi_options& options = lasting(10s)) const {
        return {redis, {"a", "b", "c"}, options};
    }
    [[nodiscard]] mutex single(const std::string& name) const { return {stranger, name}; }
    [[nodiscard]] std::vector<std::string> keys_left() {
        auto keys = raw.keys();
        std::erase_if(keys, [](const std::string& name) { return name.starts_with("{"); });
        return keys;
    }
    [[nodiscard]] bool asleep(int waiters) {
        return eventually(patience, [&] { return raw.info("blocked_clients") == std::to_string(waiters); });
    }

    static inline std::unique_ptr<testing::redis_server> node;
    raw_client raw{node->raw()};
    client redis{node->url()};
    client stranger{node->url()};
    client passer_by{node->url()};
    // In their slots' order: a wait for the last one begins while the others are free.
    const std::vector<std::string> in_order = [] {
        std::vector<std::string> names{"a", "b", "c"};
        std::ranges::sort(names, {}, [](const std::string& name) { return hash_slot("lock:" + name); });
        return names;
    }();
};

TEST_F(Slots, AreThoseTheServerTells) {
    for (const std::string name : {"a", "foo", "lock:{user:7}", "{}x", "a{b}c", "x{", "\xff\x00z"})
        EXPECT_EQ(hash_slot(name), raw.must({"CLUSTER", "KEYSLOT", name}).integer) << name;
    std::mt19937_64 numbers{testing::seed("slots")};
    for (int i = 0; i < 200; ++i) {
        std::string name;
        for (const std::size_t length = numbers() % 20; name.size() < length;)
            name += "ab{}\xe9"[numbers() % 5];
        EXPECT_EQ(hash_slot(name), raw.must({"CLUSTER", "KEYSLOT", name}).integer) << name;
    }
}

TEST_F(Slots, AreHeldTogetherWithOneFence) {
    EXPECT_NE(hash_slot("lock:a"), hash_slot("lock:b"));
    auto held = three().acquire();
    for (const auto& name : in_order) {
        EXPECT_EQ(owner_of(raw, name), owner_of(raw, "a"));
        EXPECT_EQ(fence_of(raw, name), held.fence()) << name;
        EXPECT_EQ(single(name).inspect().fence, held.fence()) << name;
        EXPECT_FALSE(single(name).try_acquire());
    }
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_F(Slots, HaveFencesThatGrowForEachName) {
    std::uint64_t last = 0;
    for (int i = 0; i < 10; ++i) {
        for (const auto& name : in_order) {
            const auto next = *single(name).acquire().fence();
            EXPECT_GT(next, last);
            last = next;
        }
        const auto next = *three().acquire().fence();
        EXPECT_GT(next, last);
        last = next;
    }
    // One that is ahead in the first slot, and one in the last.
    for (const auto& name : {in_order.front(), in_order.back()}) {
        raw.set("{lock:" + name + "}:fence", std::to_string(last += 3'600'000'000), 60s);
        const auto held = three().acquire();
        EXPECT_EQ(held.fence(), last + 9);
        for (const auto& each : in_order)
            EXPECT_EQ(fence_of(raw, each), last + 9);
        EXPECT_GT(raw.pttl("{lock:" + in_order[1] + "}:fence"), 86'400'000 + 3'590'000);
    }
}

TEST_F(Slots, AreTakenAllOrNone) {
    for (const auto& busy : in_order) {
        raw.set("lock:" + busy, "foreign", 60s);
        EXPECT_FALSE(three().try_acquire());
        EXPECT_FALSE(three().try_acquire_for(20ms));
        EXPECT_THAT(keys_left(), ::testing::ElementsAre("lock:" + busy));
        raw.del("lock:" + busy);
    }
    EXPECT_TRUE(three().try_acquire());
}

TEST_F(Slots, OfNamesWithOneTagAreOneStep) {
    const multi_mutex tagged{redis, {"{bank}:7", "{bank}:9"}, lasting(10s)};
    tagged.acquire().release();
    testing::monitor_reader monitor{*node};
    const auto mark = monitor.mark();
    const auto held = tagged.acquire();
    EXPECT_THAT(testing::names(monitor.commands_since(mark)), ::testing::ElementsAre("EVALSHA"));
}

TEST_F(Slots, CostARoundTripEachAndAreAskedForOnce) {
    EXPECT_TRUE(three().acquire().extend());
    testing::monitor_reader monitor{*node};
    auto mark = monitor.mark();
    auto held = three().acquire();
    EXPECT_EQ(testing::names(monitor.commands_since(mark)).size(), 5u);  // three, and two that are raised
    mark = monitor.mark();
    held.extend();
    EXPECT_EQ(testing::names(monitor.commands_since(mark)).size(), 3u);
    mark = monitor.mark();
    held.release();
    EXPECT_EQ(testing::names(monitor.commands_since(mark)).size(), 3u);
}

TEST_F(Slots, AreExtendedAndRenewedTogether) {
    auto held = three(lasting(900ms, std::nullopt)).acquire();
    EXPECT_TRUE(
        throughout(1200ms, [&] { return raw.exists("lock:a") + raw.exists("lock:b") + raw.exists("lock:c") == 3; }));
    EXPECT_TRUE(held);
    EXPECT_TRUE(held.extend(60s));
    for (const auto& name : in_order)
        EXPECT_GT(raw.pttl("lock:" + name), 50'000) << name;
}

// One that was refused leaves the others shortened, so that nothing is believed beyond that.
TEST_F(Slots, AreBelievedForTheShortestOfTheirTimes) {
    for (const std::string scheme : {"redis", "redis-cluster"}) {
        const testing::account holder{*node, "holder", {"~*", "&*", "+@all"}};
        const client own{scheme + holder.url().substr(holder.url().find("://"))};
        auto held = multi_mutex{own, {"a", "b", "c"}, lasting(60s, 50s)}.acquire();
        raw.must({"ACL", "SETUSER", holder.name(), "resetkeys", "~lock:a", "~lock:b"});
        const auto failure = thrown_by([&] { held.extend(500ms); });
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::no_permission);
        EXPECT_TRUE(failure->in_doubt()) << failure->what();
        EXPECT_LE(raw.pttl("lock:a"), 500);
        EXPECT_LE(held.safe_until(), clock::now() + 500ms);
        raw.must({"ACL", "SETUSER", holder.name(), "allkeys"});
        EXPECT_NE(held.release(), release_result::unknown);
        raw.flush();
    }
}

TEST_F(Slots, AreLostTogetherAndTheSurvivorsFreed) {
    for (const auto& gone : in_order) {
        auto held = three(lasting(10s, 50ms)).acquire();
        const auto lost = held.lost();
        raw.del("lock:" + gone);
        EXPECT_TRUE(eventually(1s, [&] { return lost.stop_requested(); }));
        EXPECT_FALSE(held);
        EXPECT_EQ(raw.exists("lock:" + gone), 0);
        EXPECT_EQ(held.release(), release_result::expired);
        EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    }
    auto held = three().acquire();
    raw.set("lock:b", "foreign", 60s);
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_THAT(keys_left(), ::testing::ElementsAre("lock:b"));
}

TEST_F(Slots, AreWaitedForHoldingNothing) {
    for (const auto& name : in_order) {
        auto busy = single(name).acquire();
        pending waiter{three()};
        ASSERT_TRUE(asleep(1));
        for (const auto& other : in_order)
            EXPECT_EQ(single(other).try_acquire().has_value(), other != name);
        busy.release();
        ASSERT_TRUE(waiter.granted_within(300ms)) << name;
        waiter.held().release();
    }
}

TEST_F(Slots, OfAWaitThatIsStoppedAreLeftAlone) {
    auto busy = single(in_order.back()).acquire();
    pending waiter{three()};
    ASSERT_TRUE(asleep(1));
    pending behind{mutex{passer_by, in_order.back()}};
    ASSERT_TRUE(asleep(2));
    waiter.stop();
    busy.release();
    ASSERT_TRUE(behind.granted_within(300ms));
    behind.held().release();
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

// Each wants what another has: nobody holds while it waits, so somebody always gets on.
TEST_F(Slots, InOppositeOrdersNeverLockUp) {
    constexpr int rounds = 60;
    std::atomic<int> inside{0};
    std::atomic<int> overlaps{0};
    std::atomic<int> done{0};
    const auto work = [&](const std::vector<std::string>& names) {
        const client own{node->url()};
        const multi_mutex lock{own, names};
        for (int i = 0; i < rounds; ++i) {
            const auto held = lock.try_acquire_for(patience);
            if (!held) return;
            if (++inside > 1) ++overlaps;  // any two of them have a name in common
            --inside;
            ++done;
        }
    };
    {
        const std::jthread one{[&] { work({"a", "b"}); }};
        const std::jthread two{[&] { work({"b", "c"}); }};
        const std::jthread three{[&] { work({"c", "a"}); }};
        const std::jthread four{[&] { work({"c", "b", "a"}); }};
    }
    EXPECT_EQ(overlaps, 0);
    EXPECT_EQ(done, 4 * rounds);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

// One answer after another is lost: it is ours, or an error, never busy, and nothing stays.
TEST_F(Slots, OfAnUnknownOutcomeAreUndone) {
    testing::tcp_gate gate{node->tcp()};
    const client through{gate.url() + "?command_timeout=200ms&connect_timeout=200ms"};
    const multi_mutex lock{through, {"a", "b", "c"}, lasting(60s)};
    lock.acquire().release();
    for (const auto how : {testing::ending::reset, testing::ending::keep_open})
        for (std::size_t i = 1; i <= 5; ++i) {
            gate.swallow_reply(testing::nth(i, testing::named("EVALSHA")), how);
            std::optional<guard> held;
            const auto failure = thrown_by([&] { held = lock.try_acquire(); });
            EXPECT_TRUE(held || failure) << "busy, though nobody holds it: command " << i;
            if (held) {
                EXPECT_EQ(fence_of(raw, "a"), held->fence());
                EXPECT_EQ(fence_of(raw, "b"), held->fence());
                EXPECT_EQ(fence_of(raw, "c"), held->fence());
                EXPECT_EQ(held->release(), release_result::released);
            }
            gate.pass();
            EXPECT_TRUE(eventually(2s, [&] { return keys_left().empty(); })) << "command " << i;
            EXPECT_TRUE(lock.try_acquire_for(patience)) << "command " << i;
        }
}

TEST_F(Slots, CountTheirLeaseFromBeforeTheFirstOfThem) {
    testing::tcp_gate gate{node->tcp()};
    const client through{gate.url()};
    const multi_mutex lock{through, {"a", "b", "c"}, lasting(2s)};
    lock.acquire().release();
    gate.delay_replies(150ms);
    const auto before = clock::now();
    auto held = lock.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_GE(clock::now(), before + 600ms);
    EXPECT_LE(held->safe_until(), before + 2s);
    EXPECT_TRUE(*held);
}

// Case A09: each answer comes in time, all of them together do not.
TEST_F(Slots, WhoseAnswersComeTooLateAreGivenBack) {
    testing::tcp_gate gate{node->tcp()};
    const client through{gate.url()};
    // Over when the fence is raised, and over when the answer to that comes.
    for (const milliseconds ttl : {400ms, 560ms}) {
        const multi_mutex lock{through, {"a", "b", "c"}, lasting(ttl)};
        lock.acquire().release();
        gate.delay_replies(150ms);
        std::optional<guard> held;
        const auto failure = thrown_by([&] { held = lock.try_acquire(); });
        EXPECT_FALSE(held);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::timeout);
        EXPECT_FALSE(failure->in_doubt());
        EXPECT_THAT(keys_left(), ::testing::IsEmpty());
        gate.pass();
    }
}

// A renewal that gets no answer is given up in time: a release waits for it.
TEST_F(Slots, AreReleasedInTimeBehindARenewalThatIsNotAnswered) {
    testing::tcp_gate gate{node->tcp()};
    const client hasty{gate.url() + "?command_timeout=500ms"};
    auto options = lasting(60s);
    options.lease.renew_every = 100ms;
    auto held = multi_mutex{hasty, {"a", "b", "c"}, options}.acquire();
    gate.swallow_reply(testing::text_like("60000$"), testing::ending::keep_open);
    ASSERT_TRUE(gate.wait_until_swallowed(patience));
    const stopwatch since_start;
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_LT(since_start.elapsed(), 5s);
}

TEST_F(Slots, AreReleasedInTimeOnAFrozenServer) {
    const client hasty{node->url() + "?command_timeout=200ms&connect_timeout=200ms"};
    auto held = multi_mutex{hasty, {"a", "b", "c"}, lasting(60s)}.acquire();
    {
        const auto frozen = testing::frozen(*node);
        const stopwatch since_start;
        EXPECT_EQ(held.release(), release_result::unknown);
        EXPECT_LT(since_start.elapsed(), 1s);
    }
    EXPECT_TRUE(eventually(2s, [&] { return keys_left().empty(); }));
}

TEST_F(Slots, AreSentTheirScriptsAgain) {
    auto held = three().acquire();
    testing::flush_scripts(*node);
    EXPECT_TRUE(held.extend());
    testing::flush_scripts(*node);
    EXPECT_EQ(held.release(), release_result::released);
    testing::flush_scripts(*node);
    EXPECT_TRUE(three().try_acquire());
}

}  // namespace
}  // namespace tranca::multi_test
