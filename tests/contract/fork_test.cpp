// A child after fork() owns nothing of its parent's: it sends nothing for it, and hangs on nothing.
#include <memory>
#include <set>
#include <thread>

#include "contract/contract.hpp"
#include "support/child_process.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::contract {
namespace {

using testing::child_process;
using testing::exited;
using testing::monitor_reader;

class Fork : public contract {};

TEST_P(Fork, LeavesTheChildAnEmptyGuardThatSendsNothing) {
    auto held = make().acquire();
    const auto watched = held.lost();
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    child_process child{[&] {
        EXPECT_FALSE(held);
        EXPECT_FALSE(held.extend());
        EXPECT_EQ(held.release(), release_result::expired);
        EXPECT_TRUE(held.lost().stop_requested());
        held.abandon();
        { const guard mine = std::move(held); }
        held = guard{};
    }};
    EXPECT_EQ(child.wait(10s), exited(0));
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
    EXPECT_TRUE(held);
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(events.size(), 0u) << events.text();
}

TEST_P(Fork, LetsTheChildDestroyWhatItInherited) {
    auto owned = std::make_unique<client>(server.url());
    auto primitive = std::make_unique<any_primitive>(make_on(*owned));
    auto held = std::make_unique<guard>(primitive->acquire());
    const auto watched = held->lost();  // a timer thread that the child does not have
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    child_process child{[&] {
        held.reset();
        primitive.reset();
        owned.reset();
    }};
    EXPECT_EQ(child.wait(10s), exited(0));
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
    EXPECT_EQ(held->release(), release_result::released);
}

TEST_P(Fork, LetsTheChildUseTheClientAsItsOwn) {
    auto held = make().acquire();
    child_process child{[&] {
        EXPECT_FALSE(rival().try_acquire());
        EXPECT_FALSE(rival().try_acquire_for(10ms));
        auto own = make({.name = "of the child"}).acquire();
        EXPECT_TRUE(own);
        EXPECT_TRUE(own.extend());
        EXPECT_FALSE(own.lost().stop_requested());
        EXPECT_EQ(own.release(), release_result::released);
    }};
    EXPECT_EQ(child.wait(10s), exited(0));
    EXPECT_TRUE(held);
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_P(Fork, WhileAnotherThreadWaitsDisturbsNobody) {
    auto held = make().acquire();
    raw.reset_stats();
    const auto other = another_client();  // whose threads ask the server, whatever ours hold
    std::jthread waiter{[&] {
        auto next = rival_on(other).try_acquire_for(20s);
        EXPECT_TRUE(next);
    }};
    EXPECT_TRUE(eventually(10s, [&] { return attempts() > 1; }));
    for (int i = 0; i < 5; ++i) {
        child_process child{[&] {
            EXPECT_FALSE(held);
            EXPECT_FALSE(rival().try_acquire());
        }};
        EXPECT_EQ(child.wait(20s), exited(0));
    }
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_P(Fork, GivesEveryProcessTokensOfItsOwn) {
    static_cast<void>(make().try_acquire());
    constexpr int each = 100;
    std::vector<std::unique_ptr<child_process>> children;
    for (int number = 0; number < 4; ++number)
        children.push_back(std::make_unique<child_process>([&, number] {
            for (int i = 0; i < each; ++i)
                make({.name = std::to_string(number * each + i)}).acquire().abandon();
        }));
    for (const auto& child : children)
        EXPECT_EQ(child->wait(20s), exited(0));
    std::set<std::string> tokens;
    for (int i = 0; i < 4 * each; ++i)
        tokens.insert(of.owner(raw, std::to_string(i)));
    EXPECT_EQ(tokens.size(), 4u * each);
    EXPECT_FALSE(tokens.contains(""));
}

OVER_EVERY_MODEL(Fork);

}  // namespace
}  // namespace tranca::contract
