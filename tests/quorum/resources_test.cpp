// What a client keeps of a quorum does not grow with use, and goes with it.
#include <thread>

#include "quorum/quorum_fixture.hpp"
#include "support/process_usage.hpp"

namespace tranca::quorum_test {
namespace {

using testing::open_descriptors;
using testing::threads;

class Resources : public quorum_fixture {};

TEST_F(Resources, AreBoundedOverManyCycles) {
    const voters mine{urls(5)};
    const auto lock = mine.lock();
    const auto cycle = [&] {
        const auto held = lock.try_acquire_for(5s);
        EXPECT_TRUE(held);
    };
    for (int i = 0; i < 500; ++i)
        cycle();
    const auto descriptors = open_descriptors();
    const auto running = threads();
    for (int i = 0; i < 1'000; ++i)
        cycle();
    EXPECT_LE(open_descriptors(), descriptors + 5 * 4);  // a few of each node, however many cycles
    EXPECT_LE(threads(), running);
}

TEST_F(Resources, AreBoundedWhileANodeIsFrozen) {
    const voters mine{urls(3)};
    const auto lock = mine.lock();
    for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(lock.try_acquire_for(5s));
    const auto descriptors = open_descriptors();
    const auto running = threads();
    node(0).freeze();
    for (int i = 0; i < 300; ++i)
        EXPECT_TRUE(lock.try_acquire_for(5s));
    EXPECT_LE(open_descriptors(), descriptors + 64 + 10);
    EXPECT_LE(threads(), running + 1);
    node(0).resume();
    EXPECT_TRUE(eventually(patience, [&] { return open_descriptors() <= descriptors + 20; }));
    EXPECT_TRUE(eventually(patience, [&] { return !exists(0); }));
}

TEST_F(Resources, GoWithTheClient) {
    const auto descriptors = open_descriptors();
    const auto running = threads();
    for (int i = 0; i < 5; ++i) {
        const voters mine{urls(3)};
        const auto held = mine.lock().acquire();
        EXPECT_TRUE(held);
    }
    EXPECT_TRUE(eventually(patience, [&] { return open_descriptors() <= descriptors && threads() <= running; }));
}

TEST_F(Resources, OfAHangingConnectDelayNobody) {
    const stopwatch since_start;
    {
        const voters mine{urls(3)};
        node(0).freeze();
        EXPECT_TRUE(mine.lock().try_acquire());
    }
    EXPECT_LT(since_start.elapsed(), 900ms);  // the node's own time limits are a second
    node(0).resume();
}

}  // namespace
}  // namespace tranca::quorum_test
