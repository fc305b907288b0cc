// Vote counting: every set of votes of up to five nodes, in every order.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include <tranca/tally.hpp>

namespace tranca {
namespace {

constexpr std::array every_vote{vote::confirmed, vote::granted, vote::refused, vote::silent};
using ballots = std::vector<vote>;

struct expectation {
    std::size_t confirmed = 0;
    std::size_t yes = 0;
    std::size_t silent = 0;
    std::size_t refused = 0;

    explicit expectation(const ballots& all) {
        for (const auto one : all) {
            confirmed += one == vote::confirmed ? 1 : 0;
            yes += one == vote::confirmed || one == vote::granted ? 1 : 0;
            silent += one == vote::silent ? 1 : 0;
            refused += one == vote::refused ? 1 : 0;
        }
    }
    [[nodiscard]] tally::stand of(std::size_t needed) const {
        if (confirmed >= needed) return tally::stand::won;
        return yes >= needed ? tally::stand::raise : tally::stand::lost;
    }
};

/// Every way to go on from `so_far`: does one end as `wanted`?
bool can_end_as(const ballots& so_far, std::size_t nodes, std::size_t needed, tally::stand wanted) {
    if (so_far.size() == nodes) return expectation(so_far).of(needed) == wanted;
    for (const auto one : every_vote) {
        auto more = so_far;
        more.push_back(one);
        if (can_end_as(more, nodes, needed, wanted)) return true;
    }
    return false;
}

/// Calls `visit` with every sequence of votes of up to `nodes`.
template <class Visit>
void each_sequence(std::size_t nodes, const ballots& so_far, const Visit& visit) {
    visit(so_far);
    if (so_far.size() == nodes) return;
    for (const auto one : every_vote) {
        auto more = so_far;
        more.push_back(one);
        each_sequence(nodes, more, visit);
    }
}

tally counted(std::size_t nodes, std::size_t needed, const ballots& all) {
    tally votes{nodes, needed};
    for (const auto one : all)
        votes.count(one);
    return votes;
}

TEST(Tally, MajorityIsMoreThanHalf) {
    for (std::size_t nodes = 1; nodes <= 100; ++nodes) {
        EXPECT_GT(2 * tally::majority_of(nodes), nodes);
        EXPECT_LE(2 * (tally::majority_of(nodes) - 1), nodes);
    }
}

class TallyOf : public ::testing::TestWithParam<std::size_t> {
protected:
    const std::size_t nodes = GetParam();

    template <class Visit>
    void each_need(const Visit& visit) const {
        for (auto needed = tally::majority_of(nodes); needed <= nodes; ++needed)
            visit(needed);
    }
};

TEST_P(TallyOf, AllVotesIsAlwaysDecided) {
    each_need([&](std::size_t needed) {
        each_sequence(nodes, {}, [&](const ballots& all) {
            if (all.size() < nodes) return;
            EXPECT_EQ(counted(nodes, needed, all).state(), expectation(all).of(needed));
        });
    });
}

// Won and lost as early as can be: exactly when no later vote could make it otherwise.
TEST_P(TallyOf, SomeVotesIsDecidedAsSoonAsNothingElseCanCome) {
    each_need([&](std::size_t needed) {
        each_sequence(nodes, {}, [&](const ballots& some) {
            const auto found = counted(nodes, needed, some).state();
            const bool may_win = can_end_as(some, nodes, needed, tally::stand::won);
            const bool may_raise = can_end_as(some, nodes, needed, tally::stand::raise);
            const bool may_lose = can_end_as(some, nodes, needed, tally::stand::lost);
            EXPECT_EQ(found == tally::stand::won, may_win && !may_raise && !may_lose);
            EXPECT_EQ(found == tally::stand::lost, may_lose && !may_win && !may_raise);
            EXPECT_EQ(found == tally::stand::raise, may_raise && !may_win && !may_lose);
        });
    });
}

TEST_P(TallyOf, WhoDoesNotVoteIsSilent) {
    each_need([&](std::size_t needed) {
        each_sequence(nodes, {}, [&](const ballots& some) {
            auto votes = counted(nodes, needed, some);
            const auto before = votes.state();
            votes.close();
            auto filled = some;
            filled.resize(nodes, vote::silent);
            EXPECT_EQ(votes.state(), expectation(filled).of(needed));
            EXPECT_TRUE(before == tally::stand::open || votes.state() == before);
            EXPECT_EQ(votes.pending(), 0u);
        });
    });
}

TEST_P(TallyOf, TellsRefusalsFromSilence) {
    each_need([&](std::size_t needed) {
        each_sequence(nodes, {}, [&](const ballots& all) {
            if (all.size() < nodes) return;
            const auto votes = counted(nodes, needed, all);
            const expectation expected{all};
            EXPECT_EQ(votes.is_unreachable(), nodes - expected.silent < needed);
            EXPECT_EQ(votes.is_refused(), nodes - expected.refused < needed);
            const bool is_lost = votes.is_unreachable() || votes.is_refused();
            EXPECT_TRUE(!is_lost || votes.state() == tally::stand::lost);
        });
    });
}

// Two candidates cannot both have a majority, however the nodes split.
TEST_P(TallyOf, NoTwoWinOfNodesThatVoteOnce) {
    std::size_t splits = 1;
    for (std::size_t i = 0; i < nodes; ++i)
        splits *= 3;
    for (std::size_t split = 0; split < splits; ++split) {
        tally first{nodes};
        tally second{nodes};
        for (std::size_t i = 0, rest = split; i < nodes; ++i, rest /= 3) {
            first.count(rest % 3 == 0 ? vote::confirmed : vote::refused);
            second.count(rest % 3 == 1 ? vote::confirmed : vote::refused);
        }
        EXPECT_FALSE(first.state() == tally::stand::won && second.state() == tally::stand::won);
    }
}
INSTANTIATE_TEST_SUITE_P(Nodes, TallyOf, ::testing::Values(1, 2, 3, 4, 5));

}  // namespace
}  // namespace tranca
