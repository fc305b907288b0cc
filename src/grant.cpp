#include "grant.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tranca {

contender::verdict verdict_of(contender& candidate, const script_call& call, const reply& answer, connection& redis) {
    const bool is_native =
        std::ranges::any_of(call.native, [&](const native_form& form) { return redis.features().*(form.needs); });
    try {
        if (candidate.may_ask_plainly() && !is_native) static_cast<void>(answer.size());  // its script tells a list
        return candidate.hear(answer);
    } catch (const error& failure) {
        if (failure.reason() != errc::protocol) throw;
        redis.retire();
        throw error(errc::protocol, fmt::format("acquiring \"{}\": {}", candidate.name().printable(), failure.text()),
                    effect::in_doubt);
    }
}

void await_replicas(contender& candidate, connection& redis) {
    const auto wanted = candidate.wanted_replicas();
    if (wanted.count == 0) return;
    const auto until = deadline_after(wanted.within, deadline_after(redis.where().command_timeout));
    const auto have_it = redis.command(request{"WAIT", wanted.count, wanted.within}, until).integer();
    if (have_it < wanted.count)
        throw error(errc::too_few_replicas,
                    fmt::format("acquiring \"{}\": {} of {} replicas acknowledged it within {} ms",
                                candidate.name().printable(), have_it, wanted.count, wanted.within.count()));
    candidate.acknowledged_by(have_it);
}

}  // namespace tranca
