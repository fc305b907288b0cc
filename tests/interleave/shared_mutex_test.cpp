// The readers/writer lock under every order of two and three clients' steps, with faults.
#include <tranca/shared_mutex.hpp>

#include "interleave/interleave_fixture.hpp"

namespace tranca::interleave {
namespace {

using InterleavedSharedMutex = Interleaved;

// Who holds it as well is not there.
bool one_holds_at_most(testing::raw_client& raw) {
    constexpr int fields_beside_the_holders = 2;
    return raw.must({"HLEN", "lock:thing"}).integer <= fields_beside_the_holders + 1;
}

shared_mutex the_shared_mutex(part& me) { return {me.redis(), "thing", with_long_lease<shared_options>()}; }

void try_to_write(part& me) { hold_if_free(me, the_shared_mutex(me), claim::mode::exclusive); }
void try_to_read(part& me) { hold_if_free(me, the_shared_mutex(me).shared(), claim::mode::shared); }
void wait_to_write(part& me) { hold_when_free(me, the_shared_mutex(me), claim::mode::exclusive); }
void wait_to_read(part& me) { hold_when_free(me, the_shared_mutex(me).shared(), claim::mode::shared); }

void read_then_write(part& me) {
    const auto lock = the_shared_mutex(me);
    auto held = lock.shared().try_acquire_for(long_ttl, me.stop());
    if (!held) return me.notes("gives up");
    me.keeps({{"it"}, claim::mode::shared, held->fence()});
    const auto changed = lock.try_upgrade_for(*held, long_ttl, me.stop());
    if (changed == upgrade_result::lost) return me.notes("lost it");
    const bool writes = changed == upgrade_result::upgraded;
    me.notes(writes ? "may write" : "may not write");
    me.holds(*held, {{"it"}, writes ? claim::mode::exclusive : claim::mode::shared});
}

void write_then_read(part& me) {
    const auto lock = the_shared_mutex(me);
    auto held = lock.try_acquire_for(long_ttl, me.stop());
    if (!held) return me.notes("gives up");
    me.keeps({{"it"}, claim::mode::exclusive, held->fence()});
    if (!lock.downgrade(*held)) return me.notes("lost it");
    me.notes("only reads");
    me.holds(*held, {{"it"}, claim::mode::shared});
}

scenario shared_scenario(std::string name, std::vector<body> clients, fault_budget faults = {}) {
    return {.name = "shared_mutex, " + std::move(name),
            .clients = std::move(clients),
            .faults = faults,
            .held = {.readers = {"lock:thing"}, .claims = {"{lock:thing}:state"}},
            .is_free = no_key("lock:thing"),
            .is_free_to_upgrade = one_holds_at_most};
}

TEST_F(InterleavedSharedMutex, HasReadersOrOneWriterWhoeverTries) {
    expect_no_flaw(shared_scenario("reader and writer try", {try_to_read, try_to_write}));
    expect_no_flaw(shared_scenario("two readers and a writer try", {try_to_read, try_to_read, try_to_write}));
    expect_no_flaw(shared_scenario("a reader and two writers try", {try_to_read, try_to_write, try_to_write}));
    expect_no_flaw(shared_scenario("reader and writer try, one fault", {try_to_read, try_to_write}, one_fault));
}

TEST_F(InterleavedSharedMutex, IsHandedToWhoeverWaits) {
    expect_no_flaw(shared_scenario("reader and writer wait", {wait_to_read, wait_to_write}));
    expect_no_flaw(shared_scenario("two writers wait", {wait_to_write, wait_to_write}));
    expect_no_flaw(shared_scenario("two readers and a writer wait", {wait_to_read, wait_to_read, wait_to_write}));
    expect_no_flaw(shared_scenario("a reader and two writers wait", {wait_to_read, wait_to_write, wait_to_write}));
}

TEST_F(InterleavedSharedMutex, IsHandedOnWhenTwoComeAtOnce) {
    expect_no_flaw(shared_scenario("a reader and two writers wait, two at once",
                                   {wait_to_read, wait_to_write, wait_to_write}, {.pairs = 1}));
    expect_no_flaw(shared_scenario("two readers and a writer wait, two at once",
                                   {wait_to_read, wait_to_read, wait_to_write}, {.pairs = 1}));
}

TEST_F(InterleavedSharedMutex, ChangesItsModeWithNobodyInBetween) {
    expect_no_flaw(shared_scenario("two readers upgrade", {read_then_write, read_then_write}));
    expect_no_flaw(shared_scenario("an upgrade beside a reader", {read_then_write, wait_to_read}));
    expect_no_flaw(shared_scenario("an upgrade beside a writer", {read_then_write, wait_to_write}));
    expect_no_flaw(shared_scenario("an upgrade, a reader, a writer", {read_then_write, wait_to_read, wait_to_write}));
    expect_no_flaw(shared_scenario("a downgrade beside a reader", {write_then_read, wait_to_read}));
    expect_no_flaw(shared_scenario("a downgrade, a reader, a writer", {write_then_read, wait_to_read, wait_to_write}));
    expect_no_flaw(shared_scenario("an upgrade, one fault", {read_then_write, wait_to_read}, one_fault));
    expect_no_flaw(shared_scenario("two upgrades, one fault", {read_then_write, read_then_write}, one_fault));
    expect_no_flaw(shared_scenario("a downgrade, one fault", {write_then_read, wait_to_write}, one_fault));
}

TEST_F(InterleavedSharedMutex, SurvivesFaultsWhileSomebodyWaits) {
    expect_no_flaw(shared_scenario("reader and writer wait, one fault", {wait_to_read, wait_to_write}, one_fault));
    expect_no_flaw(shared_scenario("two writers wait, one fault", {wait_to_write, wait_to_write}, one_fault));
    expect_no_flaw(shared_scenario("two readers and a writer try, one fault", {try_to_read, try_to_read, try_to_write},
                                   one_fault));
    expect_no_flaw_in_a_sample(shared_scenario("two readers and a writer wait, one fault",
                                               {wait_to_read, wait_to_read, wait_to_write}, one_fault),
                               2'000);
    expect_no_flaw_in_a_sample(shared_scenario("two readers and two writers wait, two faults",
                                               {wait_to_read, wait_to_write, wait_to_read, wait_to_write}, two_faults),
                               2'000);
}

}  // namespace
}  // namespace tranca::interleave
