// Slots of the semaphore rungs: refreshed, never brought back, and free again when their holders have died.
#include "ladder/schedule.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::ladder_test {
namespace {

using ladder::clock_semaphore;
using ladder::fair_semaphore;
using ladder::guarded_semaphore;
using ladder::wall_clock;
using testing::any_command;
using testing::nth;
using testing::skewed_wall_clock;

constexpr milliseconds slot_ttl = 10s;

template <class Semaphore>
Semaphore make(const client& redis, std::int64_t limit, wall_clock now) {
    return Semaphore{redis, "thing", limit, {.lease = {.ttl = slot_ttl}, .now = std::move(now)}};
}

template <class Semaphore>
class Slot : public Ladder {
protected:
    [[nodiscard]] Semaphore of(std::int64_t limit) const { return make<Semaphore>(redis, limit, wall); }
    [[nodiscard]] std::int64_t members() { return raw.must({"ZCARD", "thing"}).integer; }

    fake_clock wall;
};

struct semaphore_title {
    template <class Semaphore>
    static std::string GetName(int) {
        if (std::same_as<Semaphore, clock_semaphore>) return "clock_semaphore";
        return std::same_as<Semaphore, fair_semaphore> ? "fair_semaphore" : "guarded_semaphore";
    }
};

using semaphores = ::testing::Types<clock_semaphore, fair_semaphore, guarded_semaphore>;
TYPED_TEST_SUITE(Slot, semaphores, semaphore_title);

TYPED_TEST(Slot, ThatWasLostIsNotBroughtBackByARefresh) {
    auto late = this->of(1).acquire();
    this->wall.advance(slot_ttl + 1ms);
    const auto next = this->of(1).acquire();
    testing::monitor_reader monitor{this->server};
    const auto mark = monitor.mark();
    for (int i = 0; i < 100; ++i)
        EXPECT_FALSE(late.extend());
    // Not even for a moment inside a script.
    for (const auto& command : monitor.commands_since(mark))
        EXPECT_NE(command.name(), "ZADD") << command.text();
    EXPECT_EQ(this->members(), 1);
    EXPECT_EQ(late.release(), release_result::expired);
    EXPECT_EQ(this->members(), 1);
    this->wall.advance(1us);  // whoever comes next comes later
    EXPECT_FALSE(this->of(1).try_acquire());
}

TYPED_TEST(Slot, ThatIsRefreshedIsNeverGivenToAnother) {
    auto first = this->of(2).acquire();
    auto second = this->of(2).acquire();
    for (int step = 0; step < 25; ++step) {
        this->wall.advance(slot_ttl * 2 / 5);
        ASSERT_TRUE(first.extend());
        ASSERT_TRUE(second.extend());
        this->wall.advance(1us);  // whoever comes next comes later
        for (int contender = 0; contender < 5; ++contender)
            ASSERT_FALSE(this->of(2).try_acquire());
    }
    EXPECT_EQ(this->members(), 2);
}

TYPED_TEST(Slot, ThatIsNotRefreshedIsFreeAfterItsTtlAndNotBefore) {
    const auto held = this->of(1).acquire();
    this->wall.advance(slot_ttl - 1ms);
    EXPECT_FALSE(this->of(1).try_acquire());
    this->wall.advance(1ms);
    EXPECT_TRUE(this->of(1).try_acquire());
}

TYPED_TEST(Slot, OfADeadHolderComesFreeForOneOnly) {
    std::vector<std::unique_ptr<child_process>> holders;
    testing::shared_memory<std::atomic<int>> inside{0};
    for (int i = 0; i < 3; ++i)
        holders.push_back(std::make_unique<child_process>([&] {
            const client own{this->server.url()};
            const auto held = make<TypeParam>(own, 3, {}).acquire();
            inside->fetch_add(1);
            EXPECT_TRUE(eventually(60s, [] { return false; }));
        }));
    ASSERT_TRUE(eventually(patience, [&] { return inside->load() == 3; }));
    for (const auto& holder : holders)
        holder->kill_hard();
    const auto later = make<TypeParam>(this->redis, 3, skewed_wall_clock(slot_ttl));
    EXPECT_FALSE(make<TypeParam>(this->redis, 3, {}).try_acquire());
    std::vector<guard> held;
    for (int i = 0; i < 3; ++i)
        held.push_back(later.acquire());
    EXPECT_FALSE(later.try_acquire());
    EXPECT_EQ(this->members(), 3);
}

// A client dies before each of its commands: nothing it leaves keeps others out for longer than the ttls.
TYPED_TEST(Slot, IsNotLeakedByACrashAtAnyStep) {
    const auto attempt = [](const client& own) { return make<TypeParam>(own, 1, {}).acquire(); };
    const auto steps = steps_of(this->server, attempt);
    EXPECT_GE(steps, 5u);
    for (std::size_t step = 1; step <= steps; ++step) {
        tcp_gate gate{this->server.tcp()};
        gate.hold(nth(step, any_command()));
        acquire_and_be_killed(gate, attempt);
        for (const auto& key : this->raw.keys("lock:*"))
            EXPECT_GE(this->raw.pttl(key), 0) << key << " has no ttl, after command " << step;
        pass_an_age(this->raw);
        EXPECT_TRUE(make<TypeParam>(this->redis, 1, skewed_wall_clock(slot_ttl)).try_acquire())
            << "after command " << step;
        this->raw.flush();
    }
}

// One key that has two names would be two semaphores in one.
TYPED_TEST(Slot, OfAnotherNameIsAnotherSlot) {
    const auto held = this->of(1).acquire();
    const auto other = TypeParam{this->redis, "thing2", 1, {.now = this->wall}}.try_acquire();
    EXPECT_TRUE(other);
}

TYPED_TEST(Slot, KeepsItsTimeToTheMicrosecond) {
    for (const milliseconds ttl : {2ms, 999ms, milliseconds{24h * 24}, milliseconds{24h * 3650}}) {
        this->raw.flush();
        this->wall.set(std::chrono::system_clock::time_point{std::chrono::microseconds{1'234'567'890'123'457}});
        std::optional<guard> held;
        const TypeParam semaphore{this->redis, "thing", 1, {.lease = {.ttl = ttl}, .now = this->wall}};
        // A lease of two milliseconds may be over when its answer comes.
        if (!eventually(patience, [&] {
                try {
                    held = semaphore.try_acquire();
                } catch (const error&) {
                }
                return held.has_value();
            }))
            FAIL() << ttl.count();
        const auto score = this->raw.must({"ZRANGE", "thing", "0", "-1", "WITHSCORES"})[1].text;
        EXPECT_EQ(std::llround(std::stold(score) * 1'000'000), 1'234'567'890'123'457);
        this->wall.advance(ttl - 1us);
        EXPECT_FALSE(semaphore.try_acquire());
        this->wall.advance(1us);
        EXPECT_EQ(this->raw.must({"ZCOUNT", "thing", "-inf", "+inf"}), 1);
        held.reset();
    }
}

}  // namespace
}  // namespace tranca::ladder_test
