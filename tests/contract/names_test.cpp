// A name is bytes: none of them is a format, a blank, an end or a line break.
#include "contract/contract.hpp"

namespace tranca::contract {
namespace {

using namespace std::string_literals;

class Names : public contract {
protected:
    /// Names without braces, which every primitive takes.
    [[nodiscard]] static std::vector<std::string> odd_names() {
        return {"a%s%n",
                "100%",
                "%b",
                "a b",
                " ",
                "a\r\nSET x 1",
                "\"q\"",
                "a\0b"s,
                "a\0c"s,
                "\0"s,
                "\xff\xfe",
                "\n",
                "\xf0\x9f\x94\x92",
                "\xc3\xa9",
                "e\xcc\x81",
                "*3\r\n$3\r\nDEL\r\n",
                "a:b",
                "../x",
                "x\\y"};
    }
};

TEST_P(Names, OfAnyBytesAreKeysOfTheirOwn) {
    std::vector<guard> held;
    for (const auto& odd : odd_names()) {
        held.push_back(make({.name = odd}).acquire());
        EXPECT_EQ(of.holders(raw, odd), 1) << odd;
        EXPECT_EQ(of.owner(raw, odd).size(), 32u) << odd;
        EXPECT_FALSE(rival({.name = odd}).try_acquire()) << odd;
    }
    EXPECT_EQ(raw.exists("x"), 0);
    for (const auto& one : held)
        EXPECT_TRUE(one);
    for (auto& one : held)
        EXPECT_EQ(one.release(), release_result::released);
    for (const auto& odd : odd_names())
        EXPECT_EQ(of.holders(raw, odd), 0) << odd;
}

TEST_P(Names, WithAProperHashTagAreTaken) {
    for (const std::string tagged : {"{x}", "a{b}c", "{user:7}:calls"}) {
        auto held = make({.name = tagged}).acquire();
        EXPECT_EQ(of.holders(raw, tagged), 1);
        EXPECT_EQ(held.release(), release_result::released);
    }
}

TEST_P(Names, MayBeAMegabyteLong) {
    const std::string vast(key::max_size - 16, 'x');
    const std::string other = vast + "y";
    auto held = make({.name = vast}).acquire();
    EXPECT_TRUE(make({.name = other}).try_acquire());
    EXPECT_FALSE(rival({.name = vast}).try_acquire());
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_P(Names, StandInErrorsShortAndReadable) {
    const std::string odd = "a\r\nb\0c\x1b[31m"s + std::string(5'000, 'z');
    auto held = make({.name = odd}).acquire();
    raw.must({"DEL", of.key_of(odd)});
    raw.must({"LPUSH", of.key_of(odd), "x"});
    const auto failure = thrown_by([&] { held.extend(); });
    ASSERT_TRUE(failure);
    const std::string text = failure->what();
    EXPECT_LT(text.size(), 600u);
    EXPECT_THAT(text, ::testing::HasSubstr("a\\x0d\\x0ab\\x00c\\x1b[31mzzz"));
}

OVER_EVERY_MODEL(Names);

class AnyNames : public contract {};

TEST_P(AnyNames, MayHaveLonelyBraces) {
    for (const std::string odd : {"{", "}", "x{", "a{b", "we}ird", "{}x", "}x"}) {
        auto held = make({.name = odd}).acquire();
        EXPECT_EQ(raw.exists(of.key_of(odd)), 1);
        EXPECT_EQ(held.release(), release_result::released);
    }
}

OVER_MODELS_WHERE(any_name, AnyNames);

// Neighbours whose keys could be taken for one another's helpers.
TEST(NeighbouringNames, AreHeldAtTheSameTime) {
    client redis{testing::fresh().url()};
    std::vector<guard> held;
    held.push_back(ladder::fair_semaphore{redis, "s", 1}.acquire());
    for (const std::string other : {"s:owner", "s:counter", "s:q", "{s}"})
        held.push_back(ladder::px_lock{redis, other}.acquire());
    held.push_back(ladder::clock_semaphore{redis, "{s}", 1}.acquire());
    held.push_back(ladder::guarded_semaphore{redis, "t", 1}.acquire());
    held.push_back(ladder::px_lock{redis, "s"}.acquire());
    held.push_back(ladder::px_lock{redis, "s", {.prefix = "mine:"}}.acquire());
    for (auto& one : held)
        EXPECT_EQ(one.release(), release_result::released);
}

}  // namespace
}  // namespace tranca::contract
