// Whatever happens in whatever order, the server's books are right: every slot is in use once, on the pile once, or new.
#include <random>
#include <set>

#include "semaphore/semaphore_fixture.hpp"
#include "support/seed.hpp"

namespace tranca::semaphore_test {
namespace {

class Books : public semaphore_fixture {
protected:
    /// The slots that were given back.
    [[nodiscard]] std::vector<std::int64_t> given_back(const std::vector<std::string>& line) {
        std::vector<std::int64_t> found;
        if (line[5] != "-") found.push_back(std::stoll(line[5]));
        for (std::int64_t i = 1; i <= std::stoll(line[4]); ++i)
            found.push_back(std::stoll(raw.must({"HGET", "{semaphore:thing}:state", "pile" + std::to_string(i)}).text));
        return found;
    }

    void check(int step) {
        const auto free = calls.available();  // takes out the expired
        const auto line = books();
        if (line.empty()) return;  // nothing was recorded yet
        const auto limit = std::stoll(line[0]), used = std::stoll(line[1]), next = std::stoll(line[3]);
        std::multiset<std::int64_t> seen;
        for (const auto& holder : calls.holders())
            seen.insert(holder.slots.begin(), holder.slots.end());
        EXPECT_EQ(used, static_cast<long long>(seen.size())) << step;
        EXPECT_EQ(free, std::max(0LL, limit - used)) << step;
        for (const auto slot : given_back(line)) {
            EXPECT_LT(slot, limit) << step;
            seen.insert(slot);
        }
        for (std::int64_t slot = 0; slot < std::min(next, limit); ++slot)
            EXPECT_EQ(seen.count(slot), 1u) << "slot " << slot << " in step " << step;
        for (const auto slot : seen)
            EXPECT_TRUE(slot < next || slot >= limit) << "slot " << slot << " in step " << step;
    }

    void acquire() {
        const auto free = calls.available();
        const auto weight = static_cast<std::int64_t>(1 + random() % 3);
        auto one = calls.weighted(weight).try_acquire();
        EXPECT_EQ(one.has_value(), weight <= free);
        if (!one) return;
        EXPECT_GT(*one->fence(), last_fence);
        last_fence = *one->fence();
        held.push_back(std::move(*one));
    }

    void do_something() {
        const auto what = random() % 20;
        if (what < 9) return acquire();
        if (what == 9) return calls.set_limit(static_cast<std::int64_t>(1 + random() % 8));
        if (what == 10) return let_lapse();
        if (what == 11) return static_cast<void>(raw.del("semaphore:thing"));
        if (held.empty()) return;
        const auto which = held.begin() + static_cast<std::ptrdiff_t>(random() % held.size());
        if (what < 14) return static_cast<void>(which->extend());
        held.erase(which);
    }

    const semaphore calls{limited_to(8)};
    std::mt19937_64 random{testing::seed("semaphore books")};
    std::vector<guard> held;
    std::uint64_t last_fence{0};
};

TEST_F(Books, AreRightWhateverHappens) {
    for (int step = 0; step < 3'000 && !HasFailure(); ++step) {
        do_something();
        check(step);
    }
}

}  // namespace
}  // namespace tranca::semaphore_test
