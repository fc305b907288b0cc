#include "event_hold.hpp"

#include <exception>
#include <utility>

namespace tranca {

namespace {

thread_local event_hold* innermost = nullptr;

}  // namespace

event_hold::event_hold() noexcept : outer_(std::exchange(innermost, this)) {}

event_hold::~event_hold() {
    innermost = outer_;
    for (auto& telling : kept_)
        if (outer_ != nullptr) outer_->keep(std::move(telling));
        else telling();
}

event_hold* event_hold::current() noexcept { return innermost; }

void event_hold::keep(std::function<void()> telling) noexcept {
    try {
        kept_.push_back(std::move(telling));
    } catch (const std::exception&) {
        // Told with the lock held it could stand still for ever.
    }
}

}  // namespace tranca
