#include "grant.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tranca {

namespace {

// How many have it: the server itself (which WAIT does not speak of), and replicas of it.
struct copies {
    std::int64_t own = 0;
    std::int64_t of_replicas = 0;
};

copies await_copies(const replicas& wanted, connection& redis, clock::time_point until) {
    if (!wanted.on_disk)
        return {.of_replicas = redis.command(request{"WAIT", wanted.count, wanted.within}, until).integer()};
    const auto answer = redis.command(request{"WAITAOF", 1, wanted.count, wanted.within}, until);
    return {.own = answer[0].integer(), .of_replicas = answer[1].integer()};
}

}  // namespace

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
    if (!wanted.wanted()) return;
    const auto until = deadline_after(wanted.within, deadline_after(redis.where().command_timeout));
    const auto have_it = await_copies(wanted, redis, until);
    const bool lacks_disk = wanted.on_disk && have_it.own < 1;
    if (lacks_disk || have_it.of_replicas < wanted.count)
        throw error(errc::too_few_replicas,
                    fmt::format("acquiring \"{}\": {}{} of {} replicas acknowledged it within {} ms",
                                candidate.name().printable(), lacks_disk ? "not on the server's disk, and " : "",
                                have_it.of_replicas, wanted.count, wanted.within.count()));
    candidate.acknowledged_by(have_it.of_replicas);
}

}  // namespace tranca
