#include <tranca/gate.hpp>

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "fork_guard.hpp"

namespace tranca {

gate::gate() : generation_(fork_generation()) {}

bool gate::inherited() const noexcept { return generation_ != fork_generation(); }

// Also while it is being given back: who asked Redis at the same time would overtake those whom the release wakes.
bool gate::is_held() const noexcept {
    const auto holder = holder_.lock();
    return holder && (holder->held() || holder->is_releasing());
}

// A holder may lose its lease and not know: the keeper then ends it here, and it is the first one's turn.
void gate::watch_holder() const noexcept {
    if (queue_.empty()) return;
    if (const auto holder = holder_.lock()) holder->ensure_watched();
}

void gate::entrust(const std::shared_ptr<lease>& next) noexcept {
    holder_ = next;
    holder_address_ = next.get();
    watch_holder();
}

gate::entry gate::enter(clock::time_point deadline, const std::stop_token& stop, const std::stop_token& closing) {
    std::unique_lock lock{mutex_};
    if (!turn_taken_ && queue_.empty() && !is_held()) {
        turn_taken_ = true;
        return {.turn = true};
    }
    if (clock::now() >= deadline) return {};
    const auto mine = std::make_shared<place>();
    lock.unlock();
    const auto wake_mine = [&] {
        const std::lock_guard again{mutex_};
        mine->wakes.notify_one();
    };
    const std::stop_callback on_stop{stop, wake_mine};
    const std::stop_callback on_closing{closing, wake_mine};
    lock.lock();
    queue_.push_back(mine);
    watch_holder();
    const auto first = advance();
    if (first != mine) wake(first);
    while (!mine->got.turn && !mine->got.handed) {
        if (stop.stop_requested() || closing.stop_requested() || clock::now() >= deadline) {
            std::erase(queue_, mine);
            break;
        }
        if (deadline == clock::time_point::max()) mine->wakes.wait(lock);
        else mine->wakes.wait_until(lock, deadline);
    }
    auto got = std::move(mine->got);
    lock.unlock();  // before the callbacks go: one may be waiting for it
    return got;
}

std::shared_ptr<gate::place> gate::advance() noexcept {
    if (turn_taken_ || queue_.empty() || is_held()) return nullptr;
    turn_taken_ = true;
    auto first = std::move(queue_.front());
    queue_.pop_front();
    first->got.turn = true;
    return first;
}

void gate::wake(const std::shared_ptr<place>& whose) noexcept {
    if (whose) whose->wakes.notify_one();
}

void gate::leave(const std::shared_ptr<lease>& won) noexcept {
    std::unique_lock lock{mutex_};
    turn_taken_ = false;
    if (won) {
        handoffs_ = 0;
        won_at_ = clock::now();
        entrust(won);
    }
    const auto first = advance();
    lock.unlock();
    wake(first);
}

bool gate::may_pass_on() const noexcept {
    if (handoffs_ < handoff_limit) return true;
    return handoffs_ < most_handoffs && clock::now() < won_at_ + handoff_time;
}

bool gate::pass_on(const lease& holder, const std::function<std::shared_ptr<lease>()>& make_next) {
    std::unique_lock lock{mutex_};
    if (holder_address_ != &holder || queue_.empty() || !may_pass_on()) return false;
    auto next = make_next();
    if (!next) return false;
    const auto first = std::move(queue_.front());
    queue_.pop_front();
    entrust(next);
    ++handoffs_;
    first->got.handed = std::move(next);
    lock.unlock();  // who is woken would only wait for it
    wake(first);
    return true;
}

bool gate::crowded() noexcept {
    const std::lock_guard lock{mutex_};
    return !queue_.empty();
}

void gate::end(const lease& holder) noexcept {
    std::unique_lock lock{mutex_};
    if (holder_address_ == &holder) {
        holder_address_ = nullptr;
        holder_.reset();
    }
    const auto first = advance();
    lock.unlock();
    wake(first);
}

namespace {

// Gates by name; those that nobody uses are swept out now and then.
class gate_registry {
public:
    [[nodiscard]] std::shared_ptr<gate> find(const std::string& name) {
        const std::lock_guard lock{mutex_};
        auto& known = gates_[name];
        if (auto found = known.lock()) return found;
        auto made = std::make_shared<gate>();
        known = made;
        if (++made_since_sweep_ > 64 && 2 * made_since_sweep_ > gates_.size()) sweep();
        return made;
    }

private:
    void sweep() {
        std::erase_if(gates_, [](const auto& each) { return each.second.expired(); });
        made_since_sweep_ = 0;
    }

    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<gate>> gates_;
    std::size_t made_since_sweep_ = 0;
};

}  // namespace

std::shared_ptr<gate> gate_of(connection_pool& pool, const key& name, std::string_view kind) {
    return pool.companion<gate_registry>()->find(fmt::format("{}:{}{}", name.bytes().size(), name.bytes(), kind));
}

}  // namespace tranca
