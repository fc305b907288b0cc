// The explorer itself: it walks through every order once, and finds what was planted.
#include <tranca/ladder/px_lock.hpp>
#include <tranca/mutex.hpp>

#include "interleave/interleave_fixture.hpp"

namespace tranca::interleave {
namespace {

using Explorer = Interleaved;

void ask_twice(part& me) {
    me.redis().command("PING");
    me.redis().command("PING");
}

scenario of_a_lock(std::string name, std::vector<body> clients, fault_budget faults = {}) {
    return {.name = "explorer: " + std::move(name),
            .clients = std::move(clients),
            .faults = faults,
            .held = {.locks = {"lock:thing"}},
            .is_free = no_key("lock:thing")};
}

TEST_F(Explorer, WalksThroughEveryOrderOnce) {
    const auto count = [&](std::size_t clients, bool alike, fault_budget faults = {}) {
        auto what = of_a_lock("only counts", times(clients, ask_twice), faults);
        what.alike = alike;
        return explore(server, what).schedules;
    };
    EXPECT_EQ(count(1, false), 1u);
    EXPECT_EQ(count(2, false), 6u);   // 4! / (2! 2!)
    EXPECT_EQ(count(3, false), 90u);  // 6! / (2! 2! 2!)
    EXPECT_EQ(count(2, true), 3u);
    EXPECT_EQ(count(3, true), 15u);
    EXPECT_EQ(count(1, false, {.crashes = 1}), 2u);         // never, or after the first of two steps
    EXPECT_EQ(count(1, false, {.script_flushes = 1}), 2u);  // never, or between the two
    EXPECT_EQ(count(1, false, {.script_flushes = 1, .together = 0}), 1u);
}

// Two take turns at a lock that one of them gives back by plain DEL, also when it is not its own any more.
TEST_F(Explorer, FindsAReleaseThatDoesNotCompare) {
    const auto hold = [](part& me) {
        const ladder::px_lock lock{me.redis(), "thing", {.lease = {.ttl = long_ttl}}};
        auto held = lock.try_acquire();
        if (!held) return;
        me.enters({{"it"}, claim::mode::exclusive});
        me.redis().command("DEL", "lock:thing");
        held->abandon();
    };
    expect_no_flaw(of_a_lock("DEL, and no lease ends", times(3, hold)));
    expect_flaw(of_a_lock("DEL", times(3, hold), {.expiries = 1}), "two hold it");
}

TEST_F(Explorer, FindsAReleaseThatWakesNobody) {
    const auto hold = [](part& me) {
        const mutex lock{me.redis(), "thing", with_long_lease<mutex_options>()};
        auto held = lock.try_acquire_for(long_ttl, me.stop());
        if (!held) return;
        me.enters({{"it"}, claim::mode::exclusive});
        me.redis().command("DEL", "lock:thing");
        held->abandon();
    };
    expect_flaw(of_a_lock("a release that wakes nobody", times(2, hold)), "sleeps while it is free");
}

// Who counts from when he hears of it believes for longer than the server does.
TEST_F(Explorer, FindsALeaseThatIsCountedFromTheAnswer) {
    const auto hold = [](part& me) {
        if (me.redis().command("SET", "lock:thing", "mine", "NX", "PX", 50).is_nil()) return;
        me.enters({{"it"}, claim::mode::exclusive});
        me.redis().command("PING");
    };
    auto what = of_a_lock("counted from the answer", times(2, hold), {.late_answers = 1});
    what.span = 50ms;
    what.ttls = {50ms, 1h};  // of the second, no answer comes late
    what.is_free = nullptr;
    expect_flaw(what, "two hold it");
}

// A number taken before the lock is.
TEST_F(Explorer, FindsFencesOutOfOrder) {
    const auto hold = [](part& me) {
        const auto number = me.redis().command("INCR", "number").integer();
        const ladder::px_lock lock{me.redis(), "thing", {.lease = {.ttl = long_ttl}}};
        auto held = lock.try_acquire();
        if (!held) return;
        me.enters({{"it"}, claim::mode::exclusive, static_cast<std::uint64_t>(number)});
        held->release();
    };
    auto what = of_a_lock("a number taken before the lock", times(2, hold));
    what.may_stay = {"number"};
    expect_flaw(what, "is not above 2");
}

TEST_F(Explorer, FindsAnErrorWithoutACause) {
    const auto fail = [](part& me) { me.redis().command("NO SUCH COMMAND"); };
    expect_flaw(of_a_lock("an error", {fail}), "an error without a cause");
}

// Lost with its connection, and not sent again.
TEST_F(Explorer, FindsAReleaseThatDoesNotArrive) {
    const auto hold = [](part& me) {
        auto held = ladder::px_lock{me.redis(), "thing", {.lease = {.ttl = long_ttl}}}.try_acquire();
        if (!held) return;
        held->abandon();
        try {
            auto only = me.redis().pool()->borrow();
            only->command(request{"DEL", "lock:thing"});
        } catch (const error&) {
            me.notes("so be it");
        }
    };
    expect_no_flaw(of_a_lock("DEL, and none is lost", times(2, hold)));
    expect_flaw(of_a_lock("DEL, once", times(2, hold), {.lost_requests = 1}), "it is held, and everybody has gone");
}

TEST_F(Explorer, FindsALockThatIsLeftBehind) {
    const auto forget = [](part& me) {
        const ladder::px_lock lock{me.redis(), "thing", {.lease = {.ttl = long_ttl}}};
        auto held = lock.try_acquire();
        if (held) held->abandon();
    };
    expect_flaw(of_a_lock("nobody releases", {forget}), "it is held, and everybody has gone");
}

TEST_F(Explorer, DrawsTheSameSampleFromTheSameSeed) {
    const auto what = of_a_lock("a sample", times(3, ask_twice));
    const auto first = sample(server, what, 20);
    EXPECT_EQ(first.schedules, 20u);
    EXPECT_EQ(sample(server, what, 20).last, first.last);
    EXPECT_FALSE(sample(server, what, 20).exhausted);
}

TEST(Choice, IsReadAsItIsWritten) {
    const std::string all = "A B~ C! A. B? C* A&B A^ B> x f";
    EXPECT_EQ(text(parse_choices(all)), all);
    for (const auto* const wrong : {"a", "A~~", "B=", "A&", "AB", "A~B", "A&b", "xx", "1"})
        EXPECT_THROW(static_cast<void>(parse_choices(wrong)), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace tranca::interleave
