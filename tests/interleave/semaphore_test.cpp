// The semaphore under every order of two and three clients' steps, with faults.
#include <tranca/semaphore.hpp>

#include "interleave/interleave_fixture.hpp"

namespace tranca::interleave {
namespace {

using InterleavedSemaphore = Interleaved;

semaphore the_semaphore(part& me, std::int64_t limit) {
    return {me.redis(), "thing", limit, with_long_lease<permit_options>()};
}

body try_permit(std::int64_t limit) {
    return [limit](part& me) { hold_if_free(me, the_semaphore(me, limit), claim::mode::counted); };
}

body wait_for_permits(std::int64_t limit, std::int64_t count = 1) {
    return [limit, count](part& me) {
        hold_when_free(me, the_semaphore(me, limit).weighted(count), claim::mode::counted);
    };
}

// Is a permit free? A lease that has ended counts no more.
auto fewer_hold_than(std::int64_t limit) {
    return [limit](testing::raw_client& raw) {
        return raw.must({"ZCOUNT", "semaphore:thing", "2", "+inf"}).integer < limit;
    };
}

scenario semaphore_scenario_for(std::string name, std::int64_t limit, std::vector<body> clients,
                                fault_budget faults = {}) {
    return {.name = "semaphore of " + std::to_string(limit) + ", " + std::move(name),
            .clients = std::move(clients),
            .alike = true,
            .faults = faults,
            .limit = limit,
            .held = {.permits = {"semaphore:thing"}, .claims = {"{semaphore:thing}:state"}},
            .is_free = fewer_hold_than(limit),
            .refuses_only_if_held = true};
}

TEST_F(InterleavedSemaphore, KeepsItsLimitWhoeverTries) {
    expect_no_flaw(semaphore_scenario_for("tried", 1, times(2, try_permit(1))));
    expect_no_flaw(semaphore_scenario_for("tried", 2, times(3, try_permit(2))));
    expect_no_flaw(semaphore_scenario_for("tried, one fault", 1, times(2, try_permit(1)), one_fault));
    expect_no_flaw(semaphore_scenario_for("tried, one fault", 2, times(3, try_permit(2)), one_fault));
}

TEST_F(InterleavedSemaphore, HandsItsPermitsToWhoeverWaits) {
    expect_no_flaw(semaphore_scenario_for("waited for", 1, times(2, wait_for_permits(1))));
    expect_no_flaw(semaphore_scenario_for("waited for", 1, times(3, wait_for_permits(1))));
    expect_no_flaw(semaphore_scenario_for("waited for", 2, times(3, wait_for_permits(2))));
    expect_no_flaw(semaphore_scenario_for("waited for", 2, times(4, wait_for_permits(2))));
    expect_no_flaw(semaphore_scenario_for("waited for, two at once", 2, times(4, wait_for_permits(2)), {.pairs = 1}));
    expect_no_flaw(semaphore_scenario_for("waited for, one fault", 1, times(2, wait_for_permits(1)), one_fault));
    expect_no_flaw(semaphore_scenario_for("waited for, one fault", 2, times(3, wait_for_permits(2)), one_fault));
}

TEST_F(InterleavedSemaphore, SurvivesTwoFaults) {
    expect_no_flaw(semaphore_scenario_for("waited for, two faults", 1, times(2, wait_for_permits(1)), two_faults));
    expect_no_flaw_in_a_sample(
        semaphore_scenario_for("waited for, two faults", 2, times(4, wait_for_permits(2)), two_faults), 2'000);
}

// Then it is free for sure when nobody holds any.
scenario two_at_once(std::string name, std::vector<body> clients, fault_budget faults = {}) {
    auto made = semaphore_scenario_for("two wanted at once" + std::move(name), 2, std::move(clients), faults);
    made.alike = false;
    made.is_free = fewer_hold_than(1);
    return made;
}

TEST_F(InterleavedSemaphore, ServesOneWhoWantsTwoBesideThoseWhoWantOne) {
    const auto one = wait_for_permits(2), two = wait_for_permits(2, 2);
    expect_no_flaw(two_at_once("", {two, one, one}));
    expect_no_flaw(two_at_once(", one fault", {two, one}, one_fault));
    expect_no_flaw(two_at_once(", one gives up", {two, one, one}, {.stops = 1}));
    expect_no_flaw_in_a_sample(two_at_once(", one fault", {two, one, one}, one_fault), 2'000);
}

}  // namespace
}  // namespace tranca::interleave
