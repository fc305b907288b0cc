// Several names at once under every order of two and three clients' steps, with faults.
#include <algorithm>

#include <tranca/multi_mutex.hpp>
#include <tranca/mutex.hpp>

#include "interleave/interleave_fixture.hpp"

namespace tranca::interleave {
namespace {

using InterleavedMultiMutex = Interleaved;
using names = std::vector<std::string>;

multi_mutex mutex_of(part& me, const names& all) { return {me.redis(), all, with_long_lease<multi_options>()}; }

body try_names(const names& all) {
    return [all](part& me) { hold_if_free(me, mutex_of(me, all), claim::mode::exclusive, all); };
}

body wait_for_names(const names& all) {
    return [all](part& me) { hold_when_free(me, mutex_of(me, all), claim::mode::exclusive, all); };
}

// By the plain mutex of that name.
body wait_for_name(const std::string& one) {
    return [one](part& me) {
        hold_when_free(me, mutex{me.redis(), one, with_long_lease<mutex_options>()}, claim::mode::exclusive, {one});
    };
}

auto all_free(names all) {
    return [all = std::move(all)](testing::raw_client& raw) {
        return std::all_of(all.begin(), all.end(), [&](const auto& one) { return raw.exists("lock:" + one) == 0; });
    };
}

scenario multi_scenario(std::string name, std::vector<body> clients, fault_budget faults = {}) {
    return {.name = "multi_mutex, " + std::move(name),
            .clients = std::move(clients),
            .faults = faults,
            .held = {.locks = {"lock:a", "lock:b", "lock:c"}},
            .is_free = all_free({"a", "b", "c"})};
}

// Each waits for these names, for a single one by the plain mutex.
scenario waiters_for(std::string name, const std::vector<names>& wanted, fault_budget faults = {}) {
    auto made = multi_scenario(std::move(name), {}, faults);
    for (const auto& each : wanted) {
        made.clients.push_back(each.size() == 1 ? wait_for_name(each[0]) : wait_for_names(each));
        made.is_free_for.push_back(all_free(each));
    }
    return made;
}

TEST_F(InterleavedMultiMutex, TakesAllOrNothingWhoeverTries) {
    expect_no_flaw(multi_scenario("tried", {try_names({"a", "b"}), try_names({"b", "a"})}));
    expect_no_flaw(
        multi_scenario("a ring, tried", {try_names({"a", "b"}), try_names({"b", "c"}), try_names({"c", "a"})}));
    expect_no_flaw(multi_scenario("tried, one fault", {try_names({"a", "b"}), try_names({"b", "a"})}, one_fault));
}

TEST_F(InterleavedMultiMutex, IsHandedToWhoeverWaits) {
    expect_no_flaw(waiters_for("waited for", {{"a", "b"}, {"b", "a"}}));
    expect_no_flaw(waiters_for("beside a mutex", {{"a", "b"}, {"a"}}));
    expect_no_flaw(waiters_for("a ring, waited for", {{"a", "b"}, {"b", "c"}, {"c", "a"}}));
    expect_no_flaw(waiters_for("beside two mutexes", {{"a", "b"}, {"a"}, {"b"}}));
}

// Who is woken for one name and finds the other one busy must not keep the wake-up. All orders are 56,000.
TEST_F(InterleavedMultiMutex, HandsOnWhatItCannotUse) {
    expect_no_flaw_in_a_sample(waiters_for("beside three mutexes", {{"a", "b"}, {"a"}, {"a"}, {"b"}}), 2'000);
}

TEST_F(InterleavedMultiMutex, SurvivesFaultsWhileSomebodyWaits) {
    expect_no_flaw(waiters_for("waited for, one fault", {{"a", "b"}, {"b", "a"}}, one_fault));
    expect_no_flaw(waiters_for("beside a mutex, one fault", {{"a", "b"}, {"a"}}, one_fault));
    expect_no_flaw_in_a_sample(waiters_for("beside two mutexes, one fault", {{"a", "b"}, {"a"}, {"b"}}, one_fault),
                               2'000);
    expect_no_flaw_in_a_sample(
        waiters_for("a ring, waited for, two faults", {{"a", "b"}, {"b", "c"}, {"c", "a"}}, two_faults), 2'000);
}

}  // namespace
}  // namespace tranca::interleave
