// The mutex under every order of two and three clients' steps, with faults.
#include <tranca/mutex.hpp>

#include "interleave/interleave_fixture.hpp"

namespace tranca::interleave {
namespace {

mutex the_mutex(part& me) { return {me.redis(), "thing", with_long_lease<mutex_options>()}; }

mutex the_unfenced_mutex(part& me) {
    auto options = with_long_lease<mutex_options>();
    options.fencing = fencing::off;
    return {me.redis(), "thing", options};
}

mutex the_fair_mutex(part& me) {
    auto options = with_long_lease<mutex_options>();
    options.fairness = fairness::on;
    options.waiter_lease = long_ttl;
    return {me.redis(), "thing", options};
}

void try_mutex(part& me) { hold_if_free(me, the_mutex(me), claim::mode::exclusive); }
void wait_for_mutex(part& me) { hold_when_free(me, the_mutex(me), claim::mode::exclusive); }
void wait_for_unfenced_mutex(part& me) { hold_when_free(me, the_unfenced_mutex(me), claim::mode::exclusive); }
void wait_for_fair_mutex(part& me) { hold_when_free(me, the_fair_mutex(me), claim::mode::exclusive); }

scenario mutex_scenario(std::string name, std::vector<body> clients, fault_budget faults = {}) {
    return {.name = "mutex, " + std::move(name),
            .clients = std::move(clients),
            .alike = true,
            .faults = faults,
            .held = {.locks = {"lock:thing"}},
            .is_free = no_key("lock:thing"),
            .refuses_only_if_held = true};
}

using InterleavedMutex = Interleaved;

TEST_F(InterleavedMutex, IsHeldByOneWhoeverTries) {
    expect_no_flaw(mutex_scenario("tried", times(2, try_mutex)));
    expect_no_flaw(mutex_scenario("tried", times(3, try_mutex)));
}

TEST_F(InterleavedMutex, IsHandedToWhoeverWaits) {
    expect_no_flaw(mutex_scenario("waited for", times(2, wait_for_mutex)));
    expect_no_flaw(mutex_scenario("waited for", times(3, wait_for_mutex)));
    expect_no_flaw(mutex_scenario("waited for twice", times(2, twice(wait_for_mutex))));
    auto barged = mutex_scenario("waited for, while another tries", {wait_for_mutex, wait_for_mutex, try_mutex});
    barged.alike = false;
    expect_no_flaw(barged);
    barged.name += ", two at once";
    barged.faults = {.pairs = 1};
    expect_no_flaw(barged);
    expect_no_flaw(mutex_scenario("waited for, two at once", times(4, wait_for_mutex), {.pairs = 1}));
}

TEST_F(InterleavedMutex, SurvivesOneFault) {
    expect_no_flaw(mutex_scenario("tried, one fault", times(2, try_mutex), one_fault));
    expect_no_flaw(mutex_scenario("tried, one fault", times(3, try_mutex), one_fault));
    expect_no_flaw(mutex_scenario("waited for, one fault", times(2, wait_for_mutex), one_fault));
    expect_no_flaw(mutex_scenario("waited for, one fault", times(3, wait_for_mutex), one_fault));
    auto unknown = mutex_scenario("waited for by newcomers, one fault", times(2, wait_for_mutex), one_fault);
    unknown.new_connections = true;
    expect_no_flaw(unknown);
}

TEST_F(InterleavedMutex, SurvivesTwoFaults) {
    expect_no_flaw(mutex_scenario("tried, two faults", times(2, try_mutex), two_faults));
    expect_no_flaw(mutex_scenario("waited for, two faults", times(2, wait_for_mutex), two_faults));
    expect_no_flaw_in_a_sample(mutex_scenario("waited for, two faults", times(3, wait_for_mutex), two_faults), 2'000);
    expect_no_flaw_in_a_sample(
        mutex_scenario("waited for twice, two faults", times(3, twice(wait_for_mutex)), two_faults), 2'000);
}

// What has been given to it meanwhile is handed on.
TEST_F(InterleavedMutex, IsNotKeptByAWaiterThatIsToldToStop) {
    auto known = mutex_scenario("waited for, a stop when woken", times(3, wait_for_mutex), {.stops = 1});
    known.stops_when_woken = true;
    expect_no_flaw(known);
    auto unknown =
        mutex_scenario("waited for without numbers, a stop when woken", times(2, wait_for_mutex), {.stops = 1});
    unknown.stops_when_woken = unknown.may_not_ask_numbers = true;
    expect_no_flaw(unknown);
    unknown.clients = times(3, wait_for_mutex);
    expect_no_flaw(unknown);
}

// Its first wait lasts for a few milliseconds only. Where the machine stands still for longer it does not wait at all: then
// not all orders of this one are seen, and told so.
TEST_F(InterleavedMutex, WithoutFencesIsNoWorse) {
    EXPECT_EQ(explore(server, mutex_scenario("unfenced, waited for", times(3, wait_for_unfenced_mutex))).flaw,
              std::nullopt);
    EXPECT_EQ(explore(server, mutex_scenario("unfenced, one fault", times(2, wait_for_unfenced_mutex), one_fault)).flaw,
              std::nullopt);
}

TEST_F(InterleavedMutex, InOrderOfArrivalIsNoWorse) {
    expect_no_flaw(mutex_scenario("fair, waited for", times(2, wait_for_fair_mutex)));
    expect_no_flaw(mutex_scenario("fair, waited for", times(3, wait_for_fair_mutex)));
    expect_no_flaw(mutex_scenario("fair, one fault", times(2, wait_for_fair_mutex), one_fault));
}

}  // namespace
}  // namespace tranca::interleave
