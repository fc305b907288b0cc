// How a connection waits for a reply that may take its time, and hears one that nobody waited for.
#include <exception>
#include <utility>
#include <variant>

#include <tranca/connection.hpp>

#include "connection_parts.hpp"
#include "exchange_hook.hpp"
#include "ready.hpp"

namespace tranca {

arrival connection::await_reply(clock::time_point deadline, const interrupt& cut) noexcept {
    if (auto* const hook = exchange_hook::installed()) {
        const auto decided = hook->before_wait(*this);
        parts_->cut = decided == exchange_hook::wait::broken;
        if (decided == exchange_hook::wait::timed_out) return arrival::timed_out;
        if (decided == exchange_hook::wait::interrupted) return arrival::interrupted;
        if (decided != exchange_hook::wait::by_itself) return arrival::ready;
    }
    if (parts_->asks_first && !parts_->permitted) {
        const auto found = await_bytes(deadline, cut);
        if (found != arrival::ready) return found;
        hear_permission(deadline);
        if (parts_->broken) return arrival::ready;
    }
    return await_bytes(deadline, cut);
}

// The answer to ASKING comes at once, while that to the command may take its time.
void connection::hear_permission(clock::time_point until) noexcept {
    try {
        const auto found = parts_->stream.receive(until, false);
        parts_->permitted = std::holds_alternative<reply>(found);
    } catch (const std::exception&) {
        // No memory for the answer: as if there were none.
    }
    parts_->broken = parts_->broken || !parts_->permitted;
}

arrival connection::await_bytes(clock::time_point deadline, const interrupt& cut) const noexcept {
    if (parts_->stream.has_bytes()) return arrival::ready;
    if (!wait_readable(parts_->stream.descriptor(), cut.descriptor(), deadline)) return arrival::timed_out;
    return cut.raised() ? arrival::interrupted : arrival::ready;
}

void connection::post(const request& command, hearer heard) {
    require_nothing_awaited(command);
    const auto limit = send_request(command, {});
    if (parts_->posted) hear_posted(limit.until);
    --parts_->awaited;
    parts_->posted = std::move(heard);
}

void connection::hear_posted(clock::time_point until) noexcept {
    const auto heard = std::exchange(parts_->posted, nullptr);
    if (parts_->broken || parts_->stream.inherited()) return parts_->stream.inherited() ? void() : heard(nullptr);
    try {
        auto found = parts_->stream.receive(until, false);
        if (auto* const answer = std::get_if<reply>(&found)) {
            if (answer->is_error()) retire_if_refused(*answer, nullptr, 0);
            return heard(answer);
        }
    } catch (const std::exception&) {
        // No memory for the answer: as if there were none.
    }
    parts_->broken = true;
    heard(nullptr);
}

}  // namespace tranca
