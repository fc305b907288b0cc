// A server in Cluster mode: slots, and what it says of keys that do not fit (case N02).
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include <tranca/client.hpp>
#include <tranca/key.hpp>

#include "support/faults.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using ::testing::HasSubstr;

class Cluster : public ::testing::Test {
protected:
    static void SetUpTestSuite() { node = single_node_cluster(); }  // takes some seconds
    static void TearDownTestSuite() { node.reset(); }

    static std::int64_t slot(std::string_view name) {
        return node->must({"CLUSTER", "KEYSLOT", std::string{name}}).integer;
    }

    static inline std::unique_ptr<redis_server> node;
    client redis{node->url()};
};

TEST_F(Cluster, HashesWhatWeTakeForTheHashTag) {
    for (const std::string name : {"x", "a:b", "{x}", "a{b}c", "{}x", "}x", "x{", "a{b", "we}ird", "{a}{b}", "{{a}}",
                                   "}{a}", "{}{a}", "x}{", "{ }", "{a\n}b"}) {
        const auto tag = hash_tag(name);
        // Braces around a tag make it the tag; a whole name with braces of its own hashes as itself only.
        EXPECT_EQ(slot(name), tag == name ? slot(name) : slot("{" + std::string{tag} + "}any")) << name;
        if (tag != name) {
            EXPECT_EQ(slot(name), slot("{" + std::string{tag} + "}")) << name;
        }
    }
}

TEST_F(Cluster, PutsHelperKeysOfEveryProperNameInTheSlotOfTheMainKey) {
    for (const std::string name : {"x", "a:b", "lock:{x}", "a{b}c", "{a}{b}", "{{a}}", "}{a}"}) {
        ASSERT_NO_THROW(require_proper_hash_tag(name));
        const auto helper = hash_tag(name) == name ? "{" + name + "}:wake" : name + ":wake";
        EXPECT_EQ(slot(helper), slot(name)) << name;
    }
}

TEST_F(Cluster, RefusesKeysOfTwoSlotsWithAServerError) {
    const auto failure = thrown_by([&] { return redis.command("DEL", "a", "b"); });
    EXPECT_EQ(failure.code(), errc::server);
    EXPECT_THAT(failure.text(), HasSubstr("DEL \"a\" on redis://"));
    EXPECT_THAT(failure.text(), HasSubstr("CROSSSLOT"));
    EXPECT_EQ(redis.command("DEL", "{a}1", "{a}2").integer(), 0);
}

TEST_F(Cluster, ThatIsDownSaysSo) {
    node->must({"CLUSTER", "DELSLOTSRANGE", "0", "16383"});
    const auto failure = thrown_by([&] { return redis.command("GET", "a"); });
    EXPECT_EQ(failure.code(), errc::cluster_down);
    EXPECT_TRUE(failure.temporary());
}

}  // namespace
}  // namespace tranca::testing
