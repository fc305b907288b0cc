// Whatever happens in whatever order, the server agrees with a model of three lines: readers share, a writer is alone.
#include <random>

#include "shared_mutex/shared_fixture.hpp"
#include "support/seed.hpp"

namespace tranca::shared_mutex_test {
namespace {

class SharedBooks : public shared_fixture {
protected:
    struct member {
        guard held;
        lock_mode mode;
    };

    [[nodiscard]] bool has_writer() const { return !inside.empty() && inside.front().mode == lock_mode::exclusive; }

    void acquire(lock_mode mode) {
        const bool fits = mode == lock_mode::exclusive ? inside.empty() : !has_writer();
        auto one = mode == lock_mode::exclusive ? lock.try_acquire() : readers.try_acquire();
        EXPECT_EQ(one.has_value(), fits);
        if (!one) return;
        see(*one, mode == lock_mode::exclusive || !phase);
        inside.push_back({std::move(*one), mode});
        phase = mode == lock_mode::shared;
    }

    // A number of its own, or that of the phase.
    void see(const guard& one, bool fresh) {
        if (fresh) EXPECT_GT(*one.fence(), last_fence);
        else EXPECT_EQ(*one.fence(), last_fence);
        last_fence = *one.fence();
    }

    void change(member& one) {
        if (one.mode == lock_mode::exclusive) {
            EXPECT_TRUE(lock.downgrade(one.held));
            one.mode = lock_mode::shared;
        } else {
            const bool fits = inside.size() == 1;
            EXPECT_EQ(lock.try_upgrade(one.held), fits ? upgrade_result::upgraded : upgrade_result::busy);
            if (!fits) return;
            one.mode = lock_mode::exclusive;
        }
        see(one.held, true);
        phase = one.mode == lock_mode::shared;
    }

    void lapse() {
        let_lapse();
        for (auto& one : inside) {
            EXPECT_FALSE(one.held.extend());
            EXPECT_NE(one.held.release(), release_result::released);
        }
        inside.clear();
    }

    void do_something() {
        const auto what = random() % 24;
        if (what < 7) return acquire(lock_mode::shared);
        if (what < 10) return acquire(lock_mode::exclusive);
        if (what == 10) return lapse();
        if (inside.empty()) return;
        const auto which = inside.begin() + static_cast<std::ptrdiff_t>(random() % inside.size());
        if (what < 13) return static_cast<void>(which->held.extend());
        if (what < 17) return change(*which);
        EXPECT_EQ(which->held.release(), release_result::released);
        inside.erase(which);
    }

    void check(int step) {
        const auto listed = lock.holders();
        EXPECT_EQ(listed.size(), inside.size()) << step;
        for (const auto& one : listed)
            EXPECT_EQ(one.mode, inside.front().mode) << step;
        for (const auto& one : inside)
            EXPECT_TRUE(one.held) << step;
    }

    std::vector<member> inside;
    bool phase{false};  // readers have a number already
    std::uint64_t last_fence{0};
    std::mt19937_64 random{testing::seed("shared books")};
};

TEST_F(SharedBooks, AgreeWhateverHappens) {
    for (int step = 0; step < 3'000 && !HasFailure(); ++step) {
        do_something();
        check(step);
    }
}

}  // namespace
}  // namespace tranca::shared_mutex_test
