// Bad lists and bad options are refused before anything is sent.
#include "quorum/quorum_fixture.hpp"

namespace tranca::quorum_test {
namespace {

class Options : public quorum_fixture {
protected:
    static std::string refusal(const std::function<void()>& make) {
        const auto failure = thrown_by(make);
        return failure && failure->reason() == errc::invalid_argument ? failure->what() : "";
    }
    static std::string refusal_of(const quorum_options& options) {
        const voters mine{urls(1)};
        return refusal([&] { static_cast<void>(mine.lock(options)); });
    }
};

TEST_F(Options, NeedOneNode) {
    EXPECT_NE(refusal([] { quorum_mutex(quorum_mutex::clients{}, "thing"); }), "");
    EXPECT_NE(refusal([] { quorum_mutex(std::span<const client>{}, "thing"); }), "");
}

TEST_F(Options, RefuseTheSameNodeTwice) {
    const client a{"redis://127.0.0.1:7001"};
    const client b{"redis://localhost:7001/3"};
    const client c{"redis://127.0.0.1:7002"};
    EXPECT_THAT(refusal([&] { quorum_mutex({a, c, b}, "thing"); }), ::testing::HasSubstr("localhost:7001"));
    EXPECT_NE(refusal([&] { quorum_mutex({a, a}, "thing"); }), "");
    EXPECT_NO_THROW(quorum_mutex({a, c}, "thing"));
}

TEST_F(Options, RefuseALeaseOfWhichNothingIsLeft) {
    EXPECT_THAT(refusal_of(by_hand(3ms, 1ms)), ::testing::HasSubstr("ttl"));
    auto options = by_hand();
    options.drift = 9'500ms;
    EXPECT_THAT(refusal_of(options), ::testing::HasSubstr("9500"));
    options.drift = -1ms;
    EXPECT_NE(refusal_of(options), "");
    options.drift = 0ms;
    EXPECT_EQ(refusal_of(options), "");
}

TEST_F(Options, RefuseATimeLimitThatIsNone) {
    EXPECT_NE(refusal_of(by_hand(1s, 0ms)), "");
    EXPECT_NE(refusal_of(by_hand(1s, -1ms)), "");
    EXPECT_EQ(refusal_of(by_hand(1s, 1ms)), "");
}

TEST_F(Options, RefuseABadName) {
    const voters mine{urls(1)};
    EXPECT_NE(refusal([&] { quorum_mutex({mine[0]}, ""); }), "");
    EXPECT_NE(refusal([&] { quorum_mutex({mine[0]}, "we}ird{"); }), "");
}

TEST_F(Options, RefuseANodeThatSentinelsChoose) {
    const client chosen{"redis-sentinel://127.0.0.1:1/mymaster"};
    EXPECT_NE(refusal([&] { quorum_mutex({chosen}, "thing"); }), "");
}

TEST_F(Options, OfNoQuorumHaveNoVotes) {
    const client redis{node(0).url()};
    EXPECT_FALSE(quorum_mutex::votes_for(mutex(redis, "other").acquire()));
    EXPECT_FALSE(quorum_mutex::votes_for(guard{}));
}

}  // namespace
}  // namespace tranca::quorum_test
