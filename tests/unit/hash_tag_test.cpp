// Which part of a key Redis Cluster hashes, and which names can have helper keys.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include <tranca/key.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using ::testing::HasSubstr;

struct tagged_name {
    std::string_view name;
    std::string_view hashed;
};

TEST(HashTag, IsWhatStandsBetweenTheFirstBraceAndTheNextClosingOne) {
    const std::vector<tagged_name> names{
        {"x", "x"},        {"a:b", "a:b"},     {"", ""},          {"{x}", "x"},   {"a{b}c", "b"},
        {"{}x", "{}x"},    {"}x", "}x"},       {"x{", "x{"},      {"a{b", "a{b"}, {"we}ird", "we}ird"},
        {"{a}{b}", "a"},   {"{}{a}", "{}{a}"}, {"{{a}}", "{a"},   {"}{a}", "a"},  {"a{b}c}d", "b"},
        {"lock:{x}", "x"}, {"{ }", " "},       {"{x}:wake", "x"}, {"x}{", "x}{"}, {"{a:b}c", "a:b"},
    };
    for (const auto& [name, hashed] : names)
        EXPECT_EQ(hash_tag(name), hashed) << name;
}

TEST(HashTag, OfNamesWithAnyBytesIsCutByCountNotByNul) {
    const std::string name{"a\0{b\0c}d", 8};
    EXPECT_EQ(hash_tag(name), (std::string{"b\0c", 3}));
}

TEST(RequireProperHashTag, TakesNamesWithoutBracesOrWithATag) {
    for (const auto* name : {"x", "a:b", "{x}", "a{b}c", "{a}{b}", "{{a}}", "}{a}"})
        EXPECT_NO_THROW(require_proper_hash_tag(name)) << name;
}

TEST(RequireProperHashTag, RefusesBracesThatFormNone) {
    for (const auto* name : {"{}x", "}x", "x{", "a{b", "we}ird", "{}", "{", "}", "{}{a}"}) {
        const auto failure = thrown_by([&] { require_proper_hash_tag(name); });
        EXPECT_EQ(failure.code(), errc::invalid_argument) << name;
        EXPECT_THAT(failure.text(), HasSubstr(name));
    }
}

// What primitives do with a name that passed: `{name}:helper`, or `name:helper` where it has a tag of its own.
TEST(RequireProperHashTag, LetsHelperKeysShareTheTagOfTheMainKey) {
    for (const std::string name : {"x", "a:b", "{x}", "a{b}c", "{a}{b}", "{{a}}", "}{a}"}) {
        ASSERT_NO_THROW(require_proper_hash_tag(name));
        const bool has_tag = hash_tag(name) != name;
        const auto helper = has_tag ? name + ":wake" : "{" + name + "}:wake";
        EXPECT_EQ(hash_tag(helper), hash_tag(name)) << name;
    }
}

}  // namespace
}  // namespace tranca::testing
