// MOVED and ASK: what is read from them, and what is not followed.
#include <gtest/gtest.h>

#include <tranca/redirection.hpp>

namespace tranca::testing {
namespace {

const cluster_endpoint::address said_by{"10.0.0.1", 7000};

[[nodiscard]] cluster_endpoint::address named_in(std::string_view text) {
    const auto found = redirection_in(text, said_by);
    return found ? found->to : cluster_endpoint::address{"none", 1};
}

TEST(Redirection, TellsItsKindItsSlotAndTheNode) {
    const auto moved = redirection_in("MOVED 3999 10.0.0.7:6381", said_by);
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->kind, redirection::kinds::moved);
    EXPECT_EQ(moved->slot, 3999U);
    EXPECT_EQ(moved->to, (cluster_endpoint::address{"10.0.0.7", 6381}));
    const auto ask = redirection_in("ASK 16383 10.0.0.8:1", said_by);
    ASSERT_TRUE(ask);
    EXPECT_EQ(ask->kind, redirection::kinds::ask);
    EXPECT_EQ(ask->slot, 16'383U);
}

TEST(Redirection, NamesHostsInEveryNotation) {
    EXPECT_EQ(named_in("MOVED 1 n7.example.com:6381"), (cluster_endpoint::address{"n7.example.com", 6381}));
    EXPECT_EQ(named_in("MOVED 1 ::1:6381"), (cluster_endpoint::address{"::1", 6381}));
    EXPECT_EQ(named_in("MOVED 1 [2001:db8::7]:6381"), (cluster_endpoint::address{"2001:db8::7", 6381}));
}

TEST(Redirection, WithoutAHostIsToTheHostThatWasAsked) {
    EXPECT_EQ(named_in("MOVED 1 :6381"), (cluster_endpoint::address{"10.0.0.1", 6381}));
    EXPECT_EQ(named_in("ASK 1 ?:6381"), (cluster_endpoint::address{"10.0.0.1", 6381}));
}

TEST(Redirection, IsNothingElse) {
    for (const auto* text :
         {"", "MOVED", "MOVED ", "MOVED 1", "MOVED 1 ", "MOVED 1 host", "MOVED 1 host:", "MOVED 1 host:0",
          "MOVED 1 host:65536", "MOVED 1 host:-1", "MOVED 16384 host:1", "MOVED -1 host:1", "MOVED x host:1",
          "MOVED 99999999999999999999 host:1", "MOVEDX 1 host:1", "ERR MOVED 1 h:1", "moved 1 host:1",
          "TRYAGAIN 1 host:1", "CLUSTERDOWN Hash slot not served"})
        EXPECT_FALSE(redirection_in(text, said_by)) << text;
}

}  // namespace
}  // namespace tranca::testing
