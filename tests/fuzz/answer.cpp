// Any reply as the answer to an acquire of each primitive: a verdict that makes sense, or an error that the header names.
#include <memory>

#include <tranca/backoff.hpp>
#include <tranca/client.hpp>
#include <tranca/multi_lease.hpp>
#include <tranca/mutex_lease.hpp>
#include <tranca/permit_lease.hpp>
#include <tranca/shared_lease.hpp>

#include "fuzz.hpp"

namespace tranca::fuzz {
namespace {

// Never connected: what is decoded sends nothing.
const client& nowhere() {
    static const client made{"redis://127.0.0.1:1"};
    return made;
}

// What a grant is to have: a fence, so many slots.
void hear(contender& candidate, std::string_view bytes, bool has_fence, std::size_t slots) {
    succeeds(
        [&] {
            const auto answer = reply::parse(bytes);
            const auto found = candidate.hear(answer);
            if (!found.granted) {
                require(found.busy_for >= milliseconds{0}, "busy for less than no time");
                require(wait_slice(found.busy_for, milliseconds{10'000}, 0.5) > clock::duration::zero(), "no slice");
                return;
            }
            const auto fence = candidate.fence();
            require(fence.has_value() == has_fence, "a fence where there is none, or none where there is one");
            require(!fence || (*fence > 0 && *fence < std::uint64_t{1} << 53U), "a fence that no script mints");
            require(candidate.slots().size() == slots, "not as many slots as were asked for");
            require(!answer.is_nil() || !has_fence, "no answer is a grant");
        },
        errc::protocol, errc::limit_differs);
    require(!candidate.held(), "it is held before its time began");
}

std::shared_ptr<const mutex_core> mutex_of(const mutex_options& options) {
    return make_mutex_core(nowhere().pool(), key{"lock:thing"}, options);
}

void hear_mutex(std::string_view bytes, const std::shared_ptr<const mutex_core>& core, bool has_fence) {
    mutex_lease candidate{core};
    hear(candidate, bytes, has_fence, 0);
}

void hear_permits(std::string_view bytes, std::int64_t weight) {
    static const auto core = make_permit_core(nowhere().pool(), key{"semaphore:thing"}, 5, {});
    permit_lease candidate{core, weight};
    hear(candidate, bytes, true, static_cast<std::size_t>(weight));
}

void hear_shared(std::string_view bytes) {
    static const auto core = make_shared_core(nowhere().pool(), key{"shared:thing"}, {});
    const auto reader = std::make_shared<shared_lease>(core, lock_mode::shared);
    hear(*reader, bytes, true, 0);
    upgrade_claim claim{reader};
    succeeds(
        [&] {
            const auto answer = reply::parse(bytes);
            const auto found = claim.hear(answer);
            require(found.granted || found.busy_for > milliseconds{0}, "an upgrade that is busy for no time");
            require((claim.result() == upgrade_result::upgraded) == claim.fence().has_value(), "a fence of an upgrade");
        },
        errc::protocol, errc::protocol);
    succeeds([&] { static_cast<void>(reader->hear_downgrade(reply::parse(bytes))); }, errc::protocol, errc::protocol);
}

void hear_multi(std::string_view bytes) {
    static const auto core =
        make_multi_core(nowhere().pool(), std::vector<key>{key{"lock:a"}, key{"lock:b"}, key{"lock:c"}}, 100, {});
    multi_lease candidate{core};
    hear(candidate, bytes, true, 0);
    require(!candidate.wake_list().empty(), "nowhere to wait");
}

}  // namespace
}  // namespace tranca::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tranca;
    using namespace tranca::fuzz;
    const auto bytes = text_of(data, size);
    static const auto usual = mutex_of({});
    static const auto unfenced = mutex_of({.fencing = fencing::off});
    static const auto fair = mutex_of({.fencing = fencing::off, .fairness = fairness::on});  // has fences all the same
    hear_mutex(bytes, usual, true);
    hear_mutex(bytes, unfenced, false);
    hear_mutex(bytes, fair, true);
    hear_permits(bytes, 1);
    hear_permits(bytes, 3);
    hear_shared(bytes);
    hear_multi(bytes);
    return 0;
}
