#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <tranca/scripts.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

[[nodiscard]] std::size_t worst(const std::vector<std::string>& texts) {
    std::vector<reply> answers;
    for (const auto& text : texts)
        answers.push_back(reply::parse(text + "\r\n"));
    return worst_of(answers);
}

TEST(ScriptCall, OfSeveralIsAnsweredByTheWorst) {
    EXPECT_EQ(worst({":1"}), 0u);
    EXPECT_EQ(worst({":1", ":1"}), 0u);
    EXPECT_EQ(worst({":1", ":0", ":1"}), 1u);
    EXPECT_EQ(worst({":0", ":1", ":-1"}), 2u);
    EXPECT_EQ(worst({":-1", "+OK", ":1"}), 1u);
    EXPECT_EQ(worst({":-1", "-ERR one", "$-1", "-ERR two"}), 1u);
}

TEST(ScriptCall, TakesAsManyKeysAsThereAre) {
    const std::vector<std::string> keys{"k1", "k2", "k3", "k4", "k5"};
    const auto call = scripts::acquire_multi().call(keys, "mine", 7);
    EXPECT_THAT(std::string{call.command.bytes()}, ::testing::HasSubstr("$1\r\n5\r\n$2\r\nk1\r\n"));
    EXPECT_THAT(std::string{call.command.bytes()}, ::testing::EndsWith("$2\r\nk5\r\n$4\r\nmine\r\n$1\r\n7\r\n"));
    EXPECT_TRUE(std::string{call.command.bytes()}.starts_with("*10\r\n"));
    EXPECT_EQ(thrown_by([&] { return scripts::acquire_multi().call(std::span{keys}.first(0), "mine"); }).code(),
              errc::invalid_argument);
}

}  // namespace
}  // namespace tranca::testing
