// Fencing numbers grow with every grant, whatever the server forgets.
#include <algorithm>
#include <vector>

#include "mutex/mutex_fixture.hpp"
#include "support/child_process.hpp"
#include "support/faults.hpp"
#include "support/replica_pair.hpp"
#include "support/shared_memory.hpp"

namespace tranca::mutex_test {
namespace {

using testing::child_process;
using testing::exited;

class Fence : public mutex_fixture {
protected:
    /// Of one more acquisition.
    [[nodiscard]] static std::uint64_t next(const mutex& lock) {
        auto held = lock.acquire();
        EXPECT_TRUE(held.fence());
        const auto number = held.fence().value_or(0);
        EXPECT_EQ(held.release(), release_result::released);
        return number;
    }

    /// The time on the server in microseconds.
    [[nodiscard]] std::int64_t server_time() {
        const auto now = raw.must({"TIME"});
        return std::stoll(now[0].text) * 1'000'000 + std::stoll(now[1].text);
    }

    [[nodiscard]] std::int64_t counter() { return std::stoll(raw.get(fence_key).value_or("0")); }
};

TEST_F(Fence, GrowsFromHolderToHolder) {
    const auto first = lock_with();
    const auto other = another();
    std::uint64_t last = 0;
    for (int i = 0; i < 200; ++i) {
        const auto number = next(i % 2 == 0 ? first : other->lock);
        EXPECT_GT(number, last);
        last = number;
    }
}

TEST_F(Fence, GrowsOverAnExpiry) {
    const auto held = lock_with(lasting(50ms, 0ms)).acquire();
    const auto after = another()->lock.try_acquire_for(2s);
    ASSERT_TRUE(after);
    EXPECT_GT(*after->fence(), *held.fence());
}

// The next client has seen nothing: the server's clock alone has to do.
TEST_F(Fence, GrowsOverAFlush) {
    const auto before = next(lock_with());
    raw.flush();
    EXPECT_GT(next(another()->lock), before);
}

TEST_F(Fence, GrowsOverARestartWithoutPersistence) {
    const auto before = next(lock_with());
    testing::restart_without_persistence(server);
    EXPECT_GT(next(another()->lock), before);
    EXPECT_GT(next(lock_with()), before);
}

TEST_F(Fence, GrowsWhenALaggingReplicaIsPromoted) {
    testing::replica_pair pair;
    const client through{pair.url()};
    const mutex lock{through, "thing"};
    static_cast<void>(next(lock));
    pair.wait_in_sync();
    pair.stop_replication();
    const auto before = next(lock);
    pair.fail_over();
    const client fresh{pair.url()};
    EXPECT_GT(next(mutex{fresh, "thing"}), before);
}

// Who has seen larger ones brings the server up to them, though its counter and its clock say less.
TEST_F(Fence, GrowsForAClientThatHasSeenMoreThanTheServerKnows) {
    const auto ahead = server_time() + 5'000'000;
    raw.set(fence_key, std::to_string(ahead), 60s);
    const auto before = next(lock_with());
    EXPECT_GT(before, static_cast<std::uint64_t>(ahead));
    raw.flush();
    EXPECT_GT(next(lock_with()), before);
}

// A client with a number from nowhere must not drag everybody along.
TEST_F(Fence, DoesNotFollowAClientMoreThanTenMinutesAhead) {
    raw.set(fence_key, std::to_string(server_time() + 3'600'000'000), 60s);
    const auto astray = next(lock_with());
    raw.flush();
    const auto after = next(lock_with());
    EXPECT_LT(after, astray);
    EXPECT_LE(after, static_cast<std::uint64_t>(server_time()));
}

// For 36 hours from the first grant of each half of a day: 24 at least from the last one.
TEST_F(Fence, IsKeptForADayAtLeastAndForAsLongAsItIsAheadOfTheClock) {
    constexpr std::int64_t kept_for = 129'600'000;
    constexpr std::int64_t half_a_day = 43'200'000'000;
    static_cast<void>(next(lock_with()));
    EXPECT_GT(raw.pttl(fence_key), kept_for - 60'000);
    EXPECT_LE(raw.pttl(fence_key), kept_for);

    raw.set(fence_key, std::to_string(server_time() - half_a_day), 60s);
    static_cast<void>(next(lock_with()));
    EXPECT_GT(raw.pttl(fence_key), kept_for - 60'000) << "the first one in this half of a day";

    const auto ahead = server_time() + 600'000'000;
    raw.set(fence_key, std::to_string(ahead), 60s);
    EXPECT_GT(next(lock_with()), static_cast<std::uint64_t>(ahead));
    EXPECT_GT(raw.pttl(fence_key), kept_for + 590'000);
    EXPECT_LE(raw.pttl(fence_key), kept_for + 600'000);
}

// Somebody who reads the counter alone must see no grant's number in it again.
TEST_F(Fence, LeavesRoomForWhatIsHandedOnInsideTheProcess) {
    const auto first = next(lock_with());
    const auto stored = static_cast<std::uint64_t>(counter());
    EXPECT_GE(stored, first);
    raw.set(fence_key, std::to_string(server_time() + 5'000'000), 60s);
    const auto second = next(lock_with());
    EXPECT_GT(next(lock_with()), second + 8) << "the clock is behind: the reserved ones are skipped";
}

TEST_F(Fence, IsWhatTheServerShowsOfTheHolder) {
    const auto held = lock_with().acquire();
    const auto value = raw.get(lock_key).value_or("");
    EXPECT_EQ(value.substr(33, value.rfind('|') - 33), std::to_string(*held.fence()));
    EXPECT_GE(counter(), static_cast<std::int64_t>(*held.fence()));
}

// A grant without a fence is none: nothing may be left of it.
TEST_F(Fence, ThatCannotBeMintedLeavesNoLock) {
    testing::make_wrong_type(server, fence_key);
    const auto wrong = thrown_by([&] { static_cast<void>(lock_with().try_acquire()); });
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->reason(), errc::wrong_type);
    EXPECT_FALSE(exists());

    // Something else than a number: it is replaced, or refused, but holds nobody up.
    raw.flush();
    raw.set(fence_key, "nonsense", 60s);
    const auto nonsense = thrown_by([&] { static_cast<void>(lock_with().try_acquire()); });
    EXPECT_FALSE(exists());
    EXPECT_TRUE(another()->lock.try_acquire());
}

// 2^53, where Lua begins to skip numbers: refused for good, never begun anew from below.
TEST_F(Fence, IsRefusedWhereNumbersEnd) {
    const std::string end = "9007199254740990";
    for (int i = 0; i < 3; ++i) {
        raw.set(fence_key, end, 60s);
        for (int again = 0; again < 2; ++again) {
            const auto failure = thrown_by([&] { static_cast<void>(lock_with().try_acquire()); });
            EXPECT_TRUE(failure);
            EXPECT_FALSE(exists());
            EXPECT_GE(counter(), std::stoll(end));
        }
    }
}

TEST_F(Fence, IsAbsentWhereItIsTurnedOff) {
    mutex_options options;
    options.fencing = fencing::off;
    const auto held = lock_with(options).acquire();
    EXPECT_FALSE(held.fence());
    EXPECT_FALSE(another()->lock.try_acquire());
    EXPECT_EQ(raw.exists(fence_key), 0);
}

// Written down inside the lock, so in the order of the grants.
TEST_F(Fence, GrowsInTheOrderOfGrantsOfEightProcesses) {
    struct log {
        std::atomic<std::size_t> length{0};
        std::array<std::atomic<std::uint64_t>, 4096> fences{};
    };
    testing::shared_memory<log> shared;
    std::vector<std::unique_ptr<child_process>> children;
    for (int i = 0; i < 8; ++i)
        children.push_back(std::make_unique<child_process>([&] {
            const client own{server.unix_url()};
            const mutex lock{own, "thing"};
            for (int round = 0; round < 100; ++round) {
                const auto held = lock.acquire();
                shared->fences[shared->length.fetch_add(1)] = *held.fence();
            }
        }));
    for (const auto& child : children)
        EXPECT_EQ(child->wait(30s), exited(0));
    ASSERT_EQ(shared->length, 800u);
    for (std::size_t i = 1; i < shared->length; ++i)
        EXPECT_GT(shared->fences[i].load(), shared->fences[i - 1].load());
}

}  // namespace
}  // namespace tranca::mutex_test
