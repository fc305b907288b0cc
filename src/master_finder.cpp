#include "master_finder.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include <tranca/key.hpp>
#include <tranca/request.hpp>

#include "url_text.hpp"

namespace tranca {

namespace {

// Sentinels take longer than this to agree on anything new.
constexpr milliseconds pause_between_searches{50};

// Another server would do better; anything else is a matter of account or settings, which all of them share.
bool may_be_better_elsewhere(const error& failure) noexcept {
    switch (failure.reason()) {
    case errc::connect_failed:
    case errc::connection_lost:
    case errc::timeout:
    case errc::protocol: return true;
    default: return failure.temporary();
    }
}

bool same_address(const endpoint& one, const endpoint& other) noexcept {
    return one.port == other.port && one.host == other.host;
}

// A replica may be left of a master that was known; a new connection is the time to notice.
void require_master(connection& redis, clock::time_point deadline) {
    const request question{"ROLE"};
    const auto answer = redis.exchange(question, deadline);
    if (answer.is_error() && classify_error_reply(answer.text()) == errc::no_permission) return;
    throw_if_error(answer, question, redis.where());
    if (answer[0].text() != "master")
        throw error(errc::connect_failed, fmt::format("{} is no master but a {}", redis.where().printable(),
                                                      printable(answer[0].text(), 20)));
}

connection connect_to_master(const endpoint& where) {
    const auto deadline = deadline_after(where.connect_timeout);
    connection redis{where};
    require_master(redis, deadline);
    return redis;
}

// nullopt: it knows no such name.
std::optional<endpoint> master_named_by(connection& sentinel, const sentinel_endpoint& where,
                                        clock::time_point deadline) {
    const auto answer = sentinel.command(request{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", where.master_name}, deadline);
    if (answer.is_nil()) return std::nullopt;
    const auto port = whole_number<std::uint16_t>(answer[1].text());
    if (!port) throw error(errc::protocol, "a sentinel names no port");
    auto found = where.server_at(std::string{answer[0].text()}, *port);
    found.validate();
    return found;
}

}  // namespace

// One round of questions.
class master_finder::search {
public:
    search(const sentinel_endpoint& where, std::vector<sentinel_endpoint::address> order)
        : where_(where), order_(std::move(order)) {}

    [[nodiscard]] connection run() {
        for (const auto& sentinel : order_) {
            const auto named = ask(sentinel);
            if (!named) continue;
            auto master = try_out(*named);
            if (!master) continue;
            told_by_ = sentinel;
            return std::move(*master);
        }
        give_up();
    }

    [[nodiscard]] const sentinel_endpoint::address& told_by() const noexcept { return told_by_; }

private:
    [[nodiscard]] std::optional<endpoint> ask(const sentinel_endpoint::address& sentinel) {
        const auto where = where_.reach(sentinel);
        const auto deadline = deadline_after(where_.sentinel_timeout);
        try {
            connection line{where};
            if (auto master = master_named_by(line, where_, deadline)) return master;
            ++without_it_;
            note(fmt::format("{} does not know it", where.printable()));
        } catch (const error& failure) {
            if (failure.reason() == errc::authentication || failure.reason() == errc::no_permission) ++denied_;
            note(failure.text());
        }
        return std::nullopt;
    }

    // Two sentinels that name the same address do not make it better.
    [[nodiscard]] std::optional<connection> try_out(const endpoint& named) {
        const auto is_it = [&](const endpoint& other) { return same_address(named, other); };
        if (std::ranges::any_of(tried_, is_it)) return std::nullopt;
        tried_.push_back(named);
        try {
            return connect_to_master(named);
        } catch (const error& failure) {
            if (!may_be_better_elsewhere(failure)) throw;
            if (failure.temporary()) reason_ = failure.reason();
            note(failure.text());
        }
        return std::nullopt;
    }

    [[noreturn]] void give_up() const {
        auto reason = reason_;
        if (tried_.empty() && without_it_ > order_.size() / 2) reason = errc::unknown_master;
        if (denied_ == order_.size()) reason = errc::authentication;
        throw error(reason, fmt::format("finding the master by {}: {}", where_.printable(), notes_));
    }

    void note(std::string_view text) { notes_.append(notes_.empty() ? "" : "; ").append(text); }

    const sentinel_endpoint& where_;
    std::vector<sentinel_endpoint::address> order_;
    sentinel_endpoint::address told_by_{};
    std::vector<endpoint> tried_;
    std::size_t without_it_ = 0;
    std::size_t denied_ = 0;
    errc reason_ = errc::connect_failed;
    std::string notes_;
};

master_finder::master_finder(const sentinel_endpoint& where)
    : where_(where), order_(where.sentinels), known_(where.server_at({}, 0)) {}

master_finder::found master_finder::connect() {
    const auto before = known();
    for (bool first = true;; first = false) {
        if (wait_or_begin()) {
            auto redis = search_and_tell();
            const bool moved = !same_address(before, redis.where());
            return {std::move(redis), moved};
        }
        const auto master = known();
        try {
            return {connect_to_master(master), !same_address(before, master)};
        } catch (const error& failure) {
            if (!may_be_better_elsewhere(failure)) throw;
            distrust(master);
            if (!first) throw;
        }
    }
}

// False: the master is known. True: this thread is to search. Throws what another thread's search, or one a moment ago, threw.
bool master_finder::wait_or_begin() {
    std::unique_lock lock{mutex_};
    while (!sure_ && searching_) {
        const auto seen = searches_;
        searched_.wait(lock, [&] { return searches_ != seen; });
        if (!sure_ && failure_) throw *failure_;
    }
    if (sure_) return false;
    if (failure_ && clock::now() < ended_ + pause_between_searches) throw *failure_;
    searching_ = true;
    return true;
}

connection master_finder::search_and_tell() {
    try {
        std::unique_lock lock{mutex_};
        auto order = order_;
        lock.unlock();
        search round{where_, std::move(order)};
        auto redis = round.run();
        learn(redis.where(), round.told_by());
        return redis;
    } catch (const error& failure) {
        fail(failure);
        throw;
    } catch (const std::exception& failure) {
        fail(error{errc::connect_failed, failure.what()});
        throw;
    }
}

void master_finder::learn(const endpoint& master, const sentinel_endpoint::address& told_by) {
    const std::lock_guard lock{mutex_};
    known_ = master;
    const auto teller = std::ranges::find_if(
        order_, [&](const auto& each) { return each.host == told_by.host && each.port == told_by.port; });
    if (teller != order_.end()) std::rotate(order_.begin(), teller, teller + 1);
    failure_.reset();
    sure_ = true;
    searching_ = false;
    ended_ = clock::now();
    next_check_ = where_.check_every > milliseconds::zero() ? deadline_after(where_.check_every, ended_)
                                                            : clock::time_point::max();
    ++searches_;
    searched_.notify_all();
}

void master_finder::fail(const error& failure) noexcept {
    const std::lock_guard lock{mutex_};
    failure_ = failure;
    sure_ = false;
    searching_ = false;
    ended_ = clock::now();
    ++searches_;
    searched_.notify_all();
}

// Many connections break together: those of before the last search say nothing new.
void master_finder::doubt(const endpoint& where) noexcept {
    const std::lock_guard lock{mutex_};
    if (same_address(where, known_) && clock::now() >= ended_ + pause_between_searches) sure_ = false;
}

void master_finder::distrust(const endpoint& where) noexcept {
    const std::lock_guard lock{mutex_};
    if (same_address(where, known_)) sure_ = false;
}

bool master_finder::is_sure() noexcept {
    std::unique_lock lock{mutex_};
    if (!sure_ || checking_ || clock::now() < next_check_) return sure_;
    checking_ = true;
    auto answer = check::unheard;
    try {
        const auto sentinel = order_.front();
        const auto master = known_;
        lock.unlock();
        answer = ask_again(sentinel, master);
        lock.lock();
    } catch (const std::exception&) {
        if (!lock.owns_lock()) lock.lock();  // no memory to ask: another time
    }
    checking_ = false;
    hear(answer);
    return sure_;
}

master_finder::check master_finder::ask_again(const sentinel_endpoint::address& sentinel,
                                              const endpoint& known) noexcept {
    try {
        const auto where = where_.reach(sentinel);
        const auto deadline = deadline_after(where_.sentinel_timeout);
        if (!line_ || line_->stale() || !same_address(line_->where(), where)) line_.emplace(where);
        const auto named = master_named_by(*line_, where_, deadline);
        if (named) return same_address(*named, known) ? check::same : check::another;
    } catch (const std::exception&) {
        // It may be anything, and the master is not touched by it.
    }
    line_.reset();
    return check::unheard;
}

// A sentinel that does not answer is no reason to leave a master that does; the next one is asked, after a longer while.
void master_finder::hear(check answer) noexcept {
    const auto pause = answer == check::unheard ? 5 * where_.check_every : where_.check_every;
    next_check_ = deadline_after(pause);
    if (answer == check::another) sure_ = false;
    if (answer == check::unheard) std::rotate(order_.begin(), order_.begin() + 1, order_.end());
}

bool master_finder::leads_to_master(const connection& redis) const noexcept {
    const std::lock_guard lock{mutex_};
    return same_address(redis.where(), known_);
}

endpoint master_finder::known() const {
    const std::lock_guard lock{mutex_};
    return known_;
}

}  // namespace tranca
