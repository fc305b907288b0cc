// What a holder may rely on: its lease, and the answers about it, when they come late or not at all.
#include <tranca/mutex.hpp>

#include "interleave/interleave_fixture.hpp"

namespace tranca::interleave {
namespace {

using InterleavedLease = Interleaved;

// So short that a schedule can wait for its end.
constexpr std::chrono::milliseconds short_ttl{60};

mutex leased_mutex(part& me, std::chrono::milliseconds ttl = long_ttl) {
    auto options = with_long_lease<mutex_options>();
    options.lease.ttl = ttl;
    return {me.redis(), "thing", options};
}

void try_leased(part& me) { hold_if_free(me, leased_mutex(me), claim::mode::exclusive); }
void try_briefly(part& me) { hold_if_free(me, leased_mutex(me, short_ttl), claim::mode::exclusive); }
void wait_briefly(part& me) { hold_when_free(me, leased_mutex(me, short_ttl), claim::mode::exclusive); }

// Holds on if the lease is still its own, and leaves if it is told that it is not.
void extend_leased(part& me) {
    auto held = leased_mutex(me).try_acquire();
    if (!held) return me.is_refused();
    const claim all{{"it"}, claim::mode::exclusive};
    me.enters(all);
    if (!held->extend()) return me.notes("is told that it is lost");
    me.notes("extended");
    me.enters(all);
    static_cast<void>(held->release());
}

scenario lease_scenario(std::string name, std::vector<body> clients, fault_budget faults) {
    return {.name = "lease, " + std::move(name),
            .clients = std::move(clients),
            .faults = faults,
            .held = {.locks = {"lock:thing"}},
            .is_free = no_key("lock:thing"),
            .refuses_only_if_held = true};
}

TEST_F(InterleavedLease, IsExtendedByItsOwnerAlone) {
    auto what = lease_scenario("extended, one fault", times(2, extend_leased), one_fault);
    what.alike = true;
    expect_no_flaw(what);
}

// Whoever waits with a longer lease does not lend it to the holder.
TEST_F(InterleavedLease, OfOneThatCrashedEndsWhileAnotherWaits) {
    const auto try_it = [](part& me) { hold_if_free(me, leased_mutex(me, 10s), claim::mode::exclusive); };
    const auto wait_for_it = [](part& me) { hold_when_free(me, leased_mutex(me), claim::mode::exclusive); };
    auto what = lease_scenario("waited for with a longer one, a crash", {try_it, wait_for_it}, {.crashes = 1});
    what.span = 10s;
    what.ttls = {10s, long_ttl};
    expect_no_flaw(what);
}

// Whoever hears of a grant when it is over has nothing, and another may have it.
TEST_F(InterleavedLease, CountsFromBeforeItWasAskedFor) {
    const auto late = [](std::string name, std::vector<body> clients) {
        auto what = lease_scenario(std::move(name), std::move(clients), {.late_answers = 1});
        what.span = short_ttl;
        what.ttls = {short_ttl, long_ttl};
        what.refuses_only_if_held = false;  // by an answer of long ago
        return what;
    };
    expect_no_flaw(late("tried, an answer comes late", {try_briefly, try_leased}));
    expect_no_flaw(late("waited for, an answer comes late", {wait_briefly}));
}

// A grant nobody hears of, and an undoing that does not arrive.
TEST_F(InterleavedLease, ThatNobodyKnowsOfIsToldToBeInDoubt) {
    auto what = lease_scenario("tried, an answer and a request are lost", times(2, try_leased),
                               {.lost_replies = 1, .lost_requests = 1, .together = 2});
    what.alike = true;
    expect_no_flaw(what);
}

}  // namespace
}  // namespace tranca::interleave
