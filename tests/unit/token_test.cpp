// Owner tokens: what they look like, and that no two are alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include <tranca/key.hpp>
#include <tranca/token.hpp>

#include "support/child_process.hpp"
#include "support/process_barrier.hpp"
#include "support/shared_memory.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

static_assert(!std::is_default_constructible_v<token>, "a token that nobody generated proves nothing");
static_assert(!std::is_constructible_v<token, std::string>);
static_assert(!std::is_constructible_v<token, std::string_view>);
static_assert(!std::is_constructible_v<token, const char*>);
static_assert(!std::is_constructible_v<token, key>);
static_assert(!std::is_convertible_v<token, std::string_view>);
static_assert(!std::is_assignable_v<token&, std::string>);

TEST(Token, IsThirtyTwoHexadecimalDigits) {
    for (int i = 0; i < 100; ++i) {
        const auto mine = token::generate();
        ASSERT_EQ(mine.text().size(), 32U);
        ASSERT_EQ(mine.text().find_first_not_of("0123456789abcdef"), std::string_view::npos) << mine.text();
    }
}

TEST(Token, EqualsItsCopyAndNoOther) {
    const auto mine = token::generate();
    const token copy = mine;
    EXPECT_EQ(copy, mine);
    EXPECT_EQ(copy.text(), mine.text());
    EXPECT_NE(token::generate(), mine);
}

// All 128 bits vary: over 4000 tokens each digit takes each value about 250 times.
TEST(Token, UsesEveryDigitFully) {
    std::array<std::array<int, 16>, 32> seen{};
    for (int i = 0; i < 4'000; ++i) {
        const auto mine = token::generate();
        for (std::size_t place = 0; place < 32; ++place) {
            const char digit = mine.text()[place];
            ++seen[place][static_cast<std::size_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10)];
        }
    }
    for (const auto& place : seen)
        for (const int count : place) {
            ASSERT_GT(count, 120);  // 8 standard deviations
            ASSERT_LT(count, 380);
        }
}

// ... and none is a copy of another: each two agree in one of sixteen cases.
TEST(Token, HasThirtyTwoDigitsThatDoNotDependOnEachOther) {
    std::array<std::array<int, 32>, 32> alike{};
    for (int i = 0; i < 4'000; ++i) {
        const auto mine = token::generate();
        for (std::size_t first = 0; first < 32; ++first)
            for (std::size_t second = 0; second < first; ++second)
                alike[first][second] += mine.text()[first] == mine.text()[second] ? 1 : 0;
    }
    for (std::size_t first = 0; first < 32; ++first)
        for (std::size_t second = 0; second < first; ++second) {
            ASSERT_GT(alike[first][second], 120);
            ASSERT_LT(alike[first][second], 380);
        }
}

// The crowd of case B03: processes that start together, forked from one that has made tokens already.
class token_crowd {
public:
    static constexpr std::size_t processes = 16;
    static constexpr std::size_t threads = 8;
    static constexpr std::size_t each = 2'000;
    static constexpr std::size_t total = processes * threads * each;

    static std::vector<std::string_view> all(const std::array<std::array<char, 32>, total>& stored) {
        std::vector<std::string_view> texts;
        for (const auto& text : stored)
            texts.emplace_back(text.data(), text.size());
        return texts;
    }
};

struct token_store {
    std::array<std::array<char, 32>, token_crowd::total> texts{};
};

void generate_many(token_store& store, std::size_t first) {
    for (std::size_t i = first; i < first + token_crowd::each; ++i)
        token::generate().text().copy(store.texts[i].data(), store.texts[i].size());
}

void generate_in_threads(token_store& store, process_barrier& start, std::size_t process) {
    std::vector<std::jthread> crew;
    for (std::size_t thread = 0; thread < token_crowd::threads; ++thread)
        crew.emplace_back([&, first = (process * token_crowd::threads + thread) * token_crowd::each] {
            EXPECT_TRUE(start.wait(30s));
            generate_many(store, first);
        });
}

TEST(Token, IsUniqueOverProcessesAndThreads) {
    static_cast<void>(token::generate());  // so that children inherit whatever state there may be
    const shared_memory<token_store> store;
    const shared_memory<process_barrier> start{token_crowd::processes * token_crowd::threads};
    std::vector<std::unique_ptr<child_process>> crowd;
    for (std::size_t process = 0; process < token_crowd::processes; ++process)
        crowd.push_back(
            std::make_unique<child_process>([&, process] { generate_in_threads(*store, *start, process); }));
    for (const auto& child : crowd)
        ASSERT_EQ(child->wait(60s), exited(0));
    auto texts = token_crowd::all(store->texts);
    std::ranges::sort(texts);
    EXPECT_EQ(std::ranges::adjacent_find(texts), texts.end());
    EXPECT_EQ(texts.front().find('\0'), std::string_view::npos) << "a place in the store was not written";
}

}  // namespace
}  // namespace tranca::testing
