#include "pending_connection.hpp"

#include <utility>

namespace tranca {

std::optional<pending_connection::outcome> pending_connection::collect() {
    const std::lock_guard lock{mutex_};
    return std::exchange(found_, std::nullopt);
}

std::optional<connection> pending_connection::fulfil(outcome found) {
    const std::lock_guard lock{mutex_};
    if (given_up_) return std::move(found.made);
    found_.emplace(std::move(found));
    return std::nullopt;
}

std::optional<connection> pending_connection::give_up() noexcept {
    const std::lock_guard lock{mutex_};
    given_up_ = true;
    return found_ ? std::move(found_->made) : std::nullopt;
}

bool pending_connection::is_given_up() noexcept {
    const std::lock_guard lock{mutex_};
    return given_up_;
}

}  // namespace tranca
