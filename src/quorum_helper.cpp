#include "quorum_helper.hpp"

#include <array>
#include <exception>
#include <utility>

#include <tranca/error.hpp>
#include <tranca/scripts.hpp>

#include "quiet_thread.hpp"
#include "ready.hpp"

namespace tranca {

namespace {

constexpr std::size_t most_idle = 16;
constexpr std::size_t most_words = 1'024;
constexpr milliseconds between_looks{50};   // at connections on which answers are to come
constexpr milliseconds between_tries{100};  // to say a last word

// Reads the answers that nobody waits for any more, as far as they have come. False: there are more to come.
bool read_late_answers(connection& redis) {
    while (redis.usable() && redis.awaited() > 0) {
        const auto now = clock::now();
        if (!redis.has_bytes() && !wait_readable(redis.descriptor(), -1, now)) return false;
        try {
            // A new connection tells it the scripts again.
            if (is_unknown_script(redis.receive(now + milliseconds{5}))) redis.retire();
        } catch (const error&) {
            return true;  // no longer usable
        }
    }
    return true;
}

// Connects, and has the server prove that it is there by telling it the scripts: a ballot that is decided early would
// otherwise lose the vote of a node that does not know them.
connection make_connection(const endpoint& where) {
    connection made{where};
    const std::array<const script*, 4> used{&scripts::acquire_quorum(), &scripts::raise_quorum(),
                                            &scripts::release_quorum(), &scripts::extend_mutex()};
    request all;
    for (const auto* const each : used) {
        if (!each->hash().empty()) {
            all.add("SCRIPT", "LOAD", each->text());
            continue;
        }
        try {
            each->learn_hash(made);
        } catch (const error&) {
            if (!made.usable()) throw;  // or else it is not permitted: their text is sent each time
        }
    }
    if (all.size() == 0) all.add("PING");
    const auto answers = made.pipeline(all);
    // Of a server that can serve nobody now; any other error may be about scripts alone.
    if (!made.usable()) throw_if_error(answers.back(), all, where, all.size() - 1);
    if (!made.usable()) throw error(errc::connection_lost, "connecting to " + where.printable() + ": refused");
    static_cast<void>(made.features());  // known from now on
    return made;
}

}  // namespace

void quorum_helper::start() {
    if (!runner.joinable())
        runner = start_quiet_thread([shared = shared_from_this()] {
            shared->work();
            *shared->ended = true;
        });
    wakes.notify_one();
}

void quorum_helper::rest(connection redis) {
    if (!redis.usable() || idle.size() >= most_idle) return;
    idle.push_back(std::move(redis));
    rested_at = clock::now();
}

void quorum_helper::keep_word(last_word word) {
    if (words.size() >= most_words) words.pop_front();
    words.push_back(std::move(word));
}

void quorum_helper::look_at_left(clock::time_point now) {
    for (std::size_t i = 0; i < left.size();) {
        auto& one = left[i];
        const bool heard = read_late_answers(one.redis);
        const bool is_over = now >= deadline_after(one.redis.where().command_timeout, *one.since) &&
                             std::ranges::all_of(one.words, [&](const last_word& each) { return now >= each.until; });
        if (!heard && !is_over) {
            ++i;
            continue;
        }
        if (!one.redis.usable())
            for (auto& word : one.words)
                keep_word(std::move(word));
        if (heard) rest(std::move(one.redis));
        if (i + 1 < left.size()) one = std::move(left.back());
        left.pop_back();
    }
}

void quorum_helper::work() {
    std::unique_lock lock{mutex};
    while (!stopping) {
        const auto now = clock::now();
        look_at_left(now);
        std::erase_if(words, [&](const last_word& one) { return now >= one.until; });
        if (has_work(now)) {
            is_away = true;
            connect_once(lock);
            is_away = false;
        } else if (!words.empty()) {
            wakes.wait_until(lock, next_word);
        } else if (!left.empty()) {
            looking = true;
            wakes.wait_for(lock, between_looks);
            looking = false;
        } else {
            wakes.wait(lock);
        }
    }
    fail_all(error(errc::stopped, "the client was destroyed"));
}

void quorum_helper::connect_once(std::unique_lock<std::mutex>& lock) {
    trying_since = clock::now();
    lock.unlock();
    std::optional<connection> made;
    std::optional<error> failure;
    try {
        made.emplace(make_connection(*where));
    } catch (const error& found) {
        failure.emplace(found);
    } catch (const std::exception& found) {
        failure.emplace(errc::connect_failed, found.what());
    }
    lock.lock();
    trying_since.reset();
    answers = made.has_value();
    if (!made) {
        next_word = clock::now() + between_tries;
        return fail_all(*failure);
    }
    if (!words.empty()) say_words(lock, *made);
    hand_out(std::move(*made));
}

void quorum_helper::say_words(std::unique_lock<std::mutex>& lock, connection& redis) {
    const auto said = std::exchange(words, {});
    lock.unlock();
    bool heard = true;
    try {
        request all;
        for (const auto& one : said)
            all.add_request(one.command);
        static_cast<void>(redis.pipeline(all));
    } catch (const std::exception&) {
        heard = false;
    }
    lock.lock();
    if (heard) return;
    next_word = clock::now() + between_tries;
    for (const auto& one : said)
        keep_word(one);
}

void quorum_helper::hand_out(connection made) {
    std::optional<connection> free{std::move(made)};
    while (free && !wanted.empty()) {
        const auto next = std::move(wanted.front());
        wanted.pop_front();
        free = next->fulfil({std::move(free), std::nullopt});
    }
    if (free) rest(std::move(*free));
}

void quorum_helper::fail_all(const error& failure) {
    for (const auto& each : std::exchange(wanted, {}))
        static_cast<void>(each->fulfil({std::nullopt, failure}));
}

}  // namespace tranca
