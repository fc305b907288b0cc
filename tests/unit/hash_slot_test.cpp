#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <tranca/hash_slot.hpp>
#include <tranca/helper_key.hpp>
#include <tranca/key_group.hpp>

namespace tranca::testing {
namespace {

using ::testing::ElementsAre;

// Source: Redis Cluster specification, "Appendix A".
TEST(HashSlot, HasTheChecksumOfTheSpecification) {
    static_assert(crc16("123456789") == 0x31c3);
    static_assert(crc16("") == 0);
    EXPECT_EQ(hash_slot("123456789"), 0x31c3U);
}

// As CLUSTER KEYSLOT answers them.
TEST(HashSlot, IsThatOfAServer) {
    EXPECT_EQ(hash_slot("foo"), 12'182U);
    EXPECT_EQ(hash_slot("bar"), 5'061U);
    EXPECT_EQ(hash_slot("hello"), 866U);
}

TEST(HashSlot, IsThatOfTheHashTag) {
    EXPECT_EQ(hash_slot("{foo}"), hash_slot("foo"));
    EXPECT_EQ(hash_slot("a{foo}b"), hash_slot("foo"));
    EXPECT_EQ(hash_slot("{foo}{bar}"), hash_slot("foo"));
    EXPECT_EQ(hash_slot("foo{}{bar}"), crc16("foo{}{bar}") % 16'384U);
    EXPECT_EQ(hash_slot("foo{bar"), crc16("foo{bar") % 16'384U);
    EXPECT_EQ(hash_slot("{{bar}}"), hash_slot("{bar"));
}

TEST(KeyGroup, HasTheKeysOfAMutexOfEachName) {
    const key_group both{{"lock:a", "lock:{x}b"}};
    EXPECT_EQ(both.size(), 2u);
    EXPECT_THAT(both.locks(), ElementsAre("lock:a", "lock:{x}b"));
    EXPECT_THAT(both.all(), ElementsAre("lock:a", "lock:{x}b", "{lock:a}:wake", "{x}:wake:lock:{x}b", "{lock:a}:wait",
                                        "{x}:wait:lock:{x}b", "{lock:a}:fence", "{x}:fence:lock:{x}b"));
    EXPECT_EQ(both.releasable().size(), 6u);
    EXPECT_EQ(both.wake_list(1), helper_key("lock:{x}b", "wake"));
}

TEST(KeyGroup, OfSortedNamesHasEachOnce) {
    const std::vector<key> names{key{"b"}, key{"a"}, key{"b"}, key{"B"}};
    EXPECT_THAT(sorted_once(names), ElementsAre("B", "a", "b"));
}

TEST(KeyGroup, IsOneForEachSlotInTheirOrder) {
    const auto groups = grouped_by_slot({"a{foo}", "bar", "foo", "hello"});
    ASSERT_EQ(groups.size(), 3u);
    EXPECT_THAT(groups[0].locks(), ElementsAre("hello"));
    EXPECT_THAT(groups[1].locks(), ElementsAre("bar"));
    EXPECT_THAT(groups[2].locks(), ElementsAre("a{foo}", "foo"));
}

}  // namespace
}  // namespace tranca::testing
