// A fenced resource under every order of two holders' steps, one of whom has lost the lock unawares.
#include <memory>

#include <tranca/fenced.hpp>
#include <tranca/mutex.hpp>

#include "interleave/interleave_fixture.hpp"

namespace tranca::interleave {
namespace {

using InterleavedFence = Interleaved;

std::int64_t number_in(const std::string& text) { return text.empty() ? 0 : std::stoll(text); }

// One more than it read; counts what was not refused.
body add_one(const std::shared_ptr<std::int64_t>& done) {
    return [done](part& me) {
        auto held = mutex{me.redis(), "thing", with_long_lease<mutex_options>()}.try_acquire();
        if (!held) return me.is_refused();
        const auto fence = held->fence().value();
        const auto found = fenced_read(me.redis(), "ledger", fence);
        if (found.refused) return me.notes("its reading is refused");
        const auto next = number_in(found.value.value_or("")) + 1;
        me.notes("read " + std::to_string(next - 1));
        if (!fenced_write(me.redis(), "ledger", fence, std::to_string(next))) return me.notes("its writing is refused");
        ++*done;
        me.notes("wrote " + std::to_string(next));
    };
}

TEST_F(InterleavedFence, LosesNoUpdateThoughALeaseEnds) {
    const auto done = std::make_shared<std::int64_t>(0);
    scenario what{.name = "fenced resource, a lease ends",
                  .clients = times(2, add_one(done)),
                  .alike = true,
                  .faults = {.expiries = 1},
                  .held = {.locks = {"lock:thing"}},
                  .may_stay = {"ledger"},
                  .is_free = no_key("lock:thing")};
    what.prepare = [done](testing::raw_client&) { *done = 0; };
    what.flaw_at_end = [done](testing::raw_client& raw) -> std::string {
        const auto kept = number_in(raw.must({"HGET", "ledger", "value"}).text);
        if (kept == *done) return {};
        return std::to_string(*done) + " updates were done, and " + std::to_string(kept) + " are there";
    };
    expect_no_flaw(what);
}

}  // namespace
}  // namespace tranca::interleave
