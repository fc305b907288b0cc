// As many waiters are woken as there are free slots, and not once more those that have been woken and are about to ask.
#include <array>
#include <memory>
#include <thread>

#include "semaphore/semaphore_fixture.hpp"

namespace tranca::semaphore_test {
namespace {

/// One who waits is played here step by step: it asks, it is woken (its list gives up an element), it asks again.
class CallUp : public semaphore_fixture {
protected:
    [[nodiscard]] std::shared_ptr<permit_lease> one_more() const { return std::make_shared<permit_lease>(core, 1); }
    [[nodiscard]] bool ask(permit_lease& who) {
        auto line = redis.pool()->borrow();
        return who.hear(run(*line, who.acquire_call(true))).granted;
    }
    void release(permit_lease& who) { run(*redis.pool(), who.release_call()); }
    [[nodiscard]] std::int64_t wake_ups() { return raw.must({"LLEN", list}).integer; }
    void wake_one() { ASSERT_EQ(raw.must({"LPOP", list}).text, "1"); }

    /// Four hold it, and one waits: anew each time.
    void begin() {
        raw.flush();
        for (auto& holder : holders) {
            holder = one_more();
            ASSERT_TRUE(ask(*holder));
        }
        waiter = one_more();
        ASSERT_FALSE(ask(*waiter));
    }
    [[nodiscard]] std::chrono::microseconds server_time() {
        const auto now = raw.must({"TIME"});
        return std::chrono::seconds{std::stoll(now[0].text)} + std::chrono::microseconds{std::stoll(now[1].text)};
    }

    void SetUp() override { begin(); }

    const std::string list = "{semaphore:thing}:wake";
    std::shared_ptr<const permit_core> core = make_permit_core(redis.pool(), key{"semaphore:thing"}, 4, {});
    std::array<std::shared_ptr<permit_lease>, 4> holders;
    std::shared_ptr<permit_lease> waiter;
};

TEST_F(CallUp, IsOneForEachSlotThatIsFreed) {
    // Who was called has 20 ms to ask. Where the machine stood still for as long, the round says nothing: another one.
    ASSERT_TRUE(eventually(patience, [&] {
        begin();
        const auto start = server_time();
        release(*holders[0]);
        EXPECT_EQ(wake_ups(), 1);
        wake_one();
        release(*holders[1]);
        return server_time() - start < 20ms;
    }));
    EXPECT_EQ(wake_ups(), 1) << "the first of the two is on its way to the other slot";
}

TEST_F(CallUp, IsOverWhenTheOneCalledHasAsked) {
    release(*holders[0]);
    wake_one();
    EXPECT_TRUE(ask(*waiter));
    const auto other = one_more();
    EXPECT_FALSE(ask(*other));
    release(*holders[1]);
    EXPECT_EQ(wake_ups(), 1);
    wake_one();
    EXPECT_TRUE(ask(*other));
}

TEST_F(CallUp, IsPassedOnByOneThatGivesUp) {
    release(*holders[0]);
    wake_one();
    release(*waiter);  // what a waiter sends that was stopped
    EXPECT_EQ(wake_ups(), 1);
}

TEST_F(CallUp, OfOneThatDiedIsForgottenSoon) {
    release(*holders[0]);
    wake_one();
    std::this_thread::sleep_for(25ms);  // what has to pass
    release(*holders[1]);
    EXPECT_EQ(wake_ups(), 2);
}

}  // namespace
}  // namespace tranca::semaphore_test
