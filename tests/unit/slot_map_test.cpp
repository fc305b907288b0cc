// The table of slots: what CLUSTER SLOTS answers, and answers that make no sense.
#include <gmock/gmock.h>

#include <string>

#include <tranca/error.hpp>

#include "slot_map.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using node = cluster_endpoint::address;

const node asked{"10.0.0.1", 7000};

[[nodiscard]] std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}

/// [host, port, id], with the host in the protocol's words.
[[nodiscard]] std::string node_told(const std::string& host, std::string_view port) {
    return "*3\r\n" + host + ":" + std::string{port} + "\r\n" + bulk("0123abcd");
}

[[nodiscard]] std::string slots_told(std::string_view first, std::string_view last, const std::string& nodes,
                                     int count) {
    return "*" + std::to_string(2 + count) + "\r\n:" + std::string{first} + "\r\n:" + std::string{last} + "\r\n" +
           nodes;
}

[[nodiscard]] slot_map read(const std::string& answer) { return slot_map::read(reply::parse(answer), asked); }

[[nodiscard]] const std::string& usual() {
    static const std::string text =
        "*3\r\n" +
        slots_told("0", "5460", node_told(bulk("10.0.0.1"), "7000") + node_told(bulk("10.0.0.4"), "7003"), 2) +
        slots_told("5461", "10922", node_told(bulk("::1"), "7001"), 1) +
        slots_told("16383", "16383", node_told(bulk("10.0.0.1"), "7000"), 1);
    return text;
}

[[nodiscard]] node at(const slot_map& map, unsigned slot) {
    const auto* const found = map.master_of(slot);
    return found == nullptr ? node{"nobody", 1} : *found;
}

TEST(SlotMap, TellsTheMasterOfEachSlot) {
    const auto map = read(usual());
    EXPECT_EQ(at(map, 0), (node{"10.0.0.1", 7000}));
    EXPECT_EQ(at(map, 5460), (node{"10.0.0.1", 7000}));
    EXPECT_EQ(at(map, 5461), (node{"::1", 7001}));
    EXPECT_EQ(at(map, 10922), (node{"::1", 7001}));
    EXPECT_EQ(at(map, 16383), (node{"10.0.0.1", 7000}));
    EXPECT_THAT(map.masters(), ElementsAre(node{"10.0.0.1", 7000}, node{"::1", 7001}));
    EXPECT_THAT(map.replicas(), ElementsAre(node{"10.0.0.4", 7003}));
}

TEST(SlotMap, HasNobodyForASlotThatIsNotServed) {
    const auto map = read(usual());
    EXPECT_EQ(map.master_of(10923), nullptr);
    EXPECT_EQ(map.master_of(16382), nullptr);
    EXPECT_EQ(map.master_of(16384), nullptr);
    EXPECT_TRUE(read("*0\r\n").empty());
    EXPECT_THAT(read("*0\r\n").masters(), IsEmpty());
}

TEST(SlotMap, TakesAnUnknownHostForTheOneThatWasAsked) {
    for (const std::string host : {"$-1\r\n", "$0\r\n\r\n", "$1\r\n?\r\n"})
        EXPECT_EQ(at(read("*1\r\n" + slots_told("0", "1", node_told(host, "7005"), 1)), 1), (node{"10.0.0.1", 7005}))
            << host;
}

TEST(SlotMap, LearnsWhatMovedAndNothingElse) {
    auto map = read(usual());
    map.learn_moved(5461, {"n9", 7009});
    EXPECT_EQ(at(map, 5461), (node{"n9", 7009}));
    EXPECT_EQ(at(map, 5462), (node{"::1", 7001}));
    EXPECT_TRUE(map.has_master({"n9", 7009}));
    EXPECT_FALSE(map.has_master({"n9", 7010}));
    map.learn_moved(16'384, {"n10", 7010});
    EXPECT_FALSE(map.has_master({"n10", 7010}));
}

TEST(SlotMap, RefusesWhatMakesNoSense) {
    const auto node_a = node_told(bulk("a"), "7000");
    for (const auto& answer :
         {std::string{"+OK\r\n"}, std::string{"$-1\r\n"}, std::string{"*1\r\n:7\r\n"}, std::string{"*1\r\n*0\r\n"},
          "*1\r\n" + slots_told("0", "1", "", 0), "*1\r\n" + slots_told("-1", "1", node_a, 1),
          "*1\r\n" + slots_told("0", "16384", node_a, 1), "*1\r\n" + slots_told("5", "4", node_a, 1),
          "*1\r\n" + slots_told("0", "9223372036854775807", node_a, 1),
          "*1\r\n" + slots_told("0", "1", node_told(bulk("a"), "0"), 1),
          "*1\r\n" + slots_told("0", "1", node_told(bulk("a"), "65536"), 1),
          "*1\r\n" + slots_told("0", "1", node_told(bulk("a"), "-7000"), 1),
          "*1\r\n" + slots_told("0", "1", "*0\r\n", 1), "*1\r\n" + slots_told("0", "1", "*1\r\n" + bulk("a"), 1),
          "*1\r\n" + slots_told("0", "1", bulk("a"), 1), "*1\r\n" + slots_told("0", "1", "*2\r\n:1\r\n:2\r\n", 1),
          "*1\r\n" + slots_told("0", "1", "*2\r\n" + bulk("a") + bulk("7"), 1)})
        EXPECT_EQ(thrown_by([&] { return read(answer); }).code(), errc::protocol) << answer;
}

}  // namespace
}  // namespace tranca::testing
