// The numbers: a writer's is larger than all before, readers between two writers share one.
#include "shared_mutex/shared_fixture.hpp"

namespace tranca::shared_mutex_test {
namespace {

class SharedFence : public shared_fixture {
protected:
    [[nodiscard]] std::uint64_t of_a_reader() { return *readers.acquire().fence(); }
    [[nodiscard]] std::uint64_t of_a_writer() { return *lock.acquire().fence(); }
};

TEST_F(SharedFence, OfReadersIsOneUntilAWriterComes) {
    const auto first = of_a_writer();
    const auto one = readers.acquire();
    const auto two = readers.acquire();
    EXPECT_GT(*one.fence(), first);
    EXPECT_EQ(two.fence(), one.fence());
}

TEST_F(SharedFence, OfReadersStaysThoughAllHadLeft) {
    const auto before = of_a_reader();
    EXPECT_EQ(of_a_reader(), before);
    const auto writer = of_a_writer();
    EXPECT_GT(writer, before);
    EXPECT_GT(of_a_reader(), writer);
}

TEST_F(SharedFence, GrowsWithEveryWriter) {
    std::uint64_t last = 0;
    for (int i = 0; i < 200; ++i) {
        const auto next = i % 3 == 0 ? of_a_reader() : of_a_writer();
        EXPECT_GT(next, last);
        last = next;
    }
}

TEST_F(SharedFence, OfReadersAfterAWriterThatDiedIsLarger) {
    auto dead = lock.acquire();
    const auto late = *dead.fence();
    let_lapse();
    EXPECT_GT(of_a_reader(), late);
}

// Another lock's number makes no reader newer than the others it shares with.
TEST_F(SharedFence, OfReadersIsOneWhateverTheirClientsHaveSeen) {
    const auto one = readers.acquire();
    raw.must({"HSET", "{lock:other}:state", "fence", std::to_string(*one.fence() + 60'000'000)});
    const shared_mutex other{redis, "other"};
    EXPECT_GT(*other.acquire().fence(), *one.fence() + 60'000'000);
    EXPECT_EQ(of_a_reader(), *one.fence());
}

TEST_F(SharedFence, StaysAheadOverALossOfMemory) {
    raw.must({"HSET", state_key, "fence", std::to_string(server_time() * 1'000 + 60'000'000)});
    const auto ahead = of_a_writer();  // of the clock
    raw.flush();
    EXPECT_GT(of_a_reader(), ahead);
    raw.flush();
    EXPECT_GT(of_a_writer(), ahead);
}

TEST_F(SharedFence, ThatIsUsedUpIsAnErrorAndTakesNothing) {
    raw.must({"HSET", state_key, "fence", "9007199254740991"});
    EXPECT_TRUE(reason_of([&] { static_cast<void>(lock.try_acquire()); }));
    EXPECT_TRUE(reason_of([&] { static_cast<void>(readers.try_acquire()); }));
    EXPECT_EQ(raw.exists(main_key), 0);
}

TEST_F(SharedFence, IsExactNearItsEnd) {
    raw.must({"HSET", state_key, "fence", "9007199254740980"});
    EXPECT_EQ(of_a_writer(), 9'007'199'254'740'981u);
    EXPECT_EQ(of_a_reader(), 9'007'199'254'740'982u);
}

// The resource refuses a writer that is late once a reader was there, and no reader that is in the right.
TEST_F(SharedFence, CheckedOnReadsRefusesALateWriter) {
    auto late = lock.acquire();
    ASSERT_TRUE(fenced_write(redis, "ledger", *late.fence(), "old"));
    let_lapse();
    const auto one = readers.acquire();
    const auto two = readers.acquire();
    EXPECT_FALSE(fenced_read(redis, "ledger", *two.fence()).refused);
    EXPECT_FALSE(fenced_read(redis, "ledger", *one.fence()).refused);
    EXPECT_FALSE(fenced_write(redis, "ledger", *late.fence(), "late"));
    EXPECT_EQ(fenced_read(redis, "ledger", *one.fence()).value, "old");
}

}  // namespace
}  // namespace tranca::shared_mutex_test
