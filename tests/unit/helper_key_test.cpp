#include <gmock/gmock.h>

#include <set>
#include <string>

#include <tranca/helper_key.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

TEST(HelperKey, StandsInTheSlotOfItsMainKey) {
    for (const std::string main : {"lock:a", "lock:{shop}:7", "{shop}", "a:b", "{a}{b}", "x{y}"})
        for (const auto* role : {"fence", "wake", "wait"})
            EXPECT_EQ(hash_tag(helper_key(main, role)), hash_tag(main)) << main;
}

TEST(HelperKey, OfAPlainNameIsTheNameInBraces) { EXPECT_EQ(helper_key("lock:a", "wake"), "{lock:a}:wake"); }

// Case L01.
TEST(HelperKey, IsNeverSharedNorAMainKey) {
    std::set<std::string> seen;
    for (const std::string name : {"a", "a:wake", "{a}", "{a}:wake", "{a}b", "a{b}", "wake:{a}", "{lock:a}:wake"}) {
        const auto main = main_key_for("lock:", name);
        EXPECT_TRUE(seen.insert(std::string{main.bytes()}).second) << name;
        for (const auto* role : {"fence", "wake", "wait"})
            EXPECT_TRUE(seen.insert(helper_key(main.bytes(), role)).second) << name << " " << role;
    }
}

TEST(MainKey, WithBracesThatFormNoTagIsRefused) {
    for (const auto* name : {"a{b", "}a{", "a{}b", "{"})
        EXPECT_EQ(thrown_by([&] { return main_key_for("lock:", name); }).code(), errc::invalid_argument) << name;
}

}  // namespace
}  // namespace tranca::testing
