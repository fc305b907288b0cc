// C10: a process that stood still for longer than its ttl believes nothing when it goes on, and touches nothing.
#include "mutex/mutex_fixture.hpp"
#include "support/child_process.hpp"
#include "support/process_barrier.hpp"
#include "support/shared_memory.hpp"

namespace tranca::mutex_test {
namespace {

using testing::child_process;
using testing::exited;
using testing::shared_memory;

using FrozenHolder = mutex_fixture;

struct board {
    std::atomic<std::uint64_t> fence{0};
    std::atomic<std::int64_t> believed_at{0};  // the last time at which it was asked, and said yes
    std::atomic<bool> next_is_in{false};
    std::atomic<bool> told{false};
};

TEST_F(FrozenHolder, DoesNotBelieveWhenItGoesOn) {
    shared_memory<board> shared;
    child_process holder{[&] {
        const client own{server.url()};
        auto held = mutex{own, "thing", lasting(500ms)}.acquire();
        const auto lost = held.lost();
        shared->fence = *held.fence();
        while (!shared->next_is_in || held) {
            const auto before = wall_ms();  // read first: it may be frozen between the two
            if (held) shared->believed_at = before;
        }
        shared->told = eventually(2s, [&] { return lost.stop_requested(); });
        EXPECT_EQ(held.release(), release_result::taken);
    }};
    ASSERT_TRUE(eventually(5s, [&] { return shared->believed_at > 0; }));
    // Past its first renewal, so that this too has to end.
    ASSERT_TRUE(throughout(300ms, [&] { return exists(); }));
    holder.freeze();
    auto next = lock_with(lasting(10s, 0ms)).try_acquire_for(5s);
    ASSERT_TRUE(next);
    const auto taken_at = wall_ms();
    const auto end = expires_at();
    EXPECT_GT(*next->fence(), shared->fence);
    shared->next_is_in = true;
    holder.resume();
    EXPECT_EQ(holder.wait(5s), exited(0));
    EXPECT_LT(shared->believed_at, taken_at);
    EXPECT_TRUE(shared->told);
    EXPECT_EQ(expires_at(), end);  // its renewal, sent late, changed nothing
    EXPECT_TRUE(*next);
    EXPECT_EQ(next->release(), release_result::released);
}

// What it writes after that is refused by whoever checks the fence.
TEST_F(FrozenHolder, IsRefusedByTheResource) {
    shared_memory<board> shared;
    child_process holder{[&] {
        const client own{server.url()};
        auto held = mutex{own, "thing", lasting(300ms)}.acquire();
        shared->fence = *held.fence();
        EXPECT_TRUE(
            eventually(10s, [&] { return shared->next_is_in.load(); }));  // frozen in here, whatever it believes
        EXPECT_FALSE(fenced_write(own, "ledger", shared->fence, "old"));
        EXPECT_TRUE(fenced_read(own, "ledger", shared->fence).refused);
    }};
    ASSERT_TRUE(eventually(5s, [&] { return shared->fence > 0; }));
    holder.freeze();
    const auto next = lock_with(lasting(10s)).try_acquire_for(5s);
    ASSERT_TRUE(next);
    ASSERT_TRUE(fenced_write(redis, "ledger", *next->fence(), "new"));
    shared->next_is_in = true;
    holder.resume();
    EXPECT_EQ(holder.wait(5s), exited(0));
    EXPECT_EQ(fenced_read(redis, "ledger", *next->fence()).value, "new");
}

}  // namespace
}  // namespace tranca::mutex_test
