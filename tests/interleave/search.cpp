#include "interleave/search.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

#include "support/deadline.hpp"
#include "support/seed.hpp"

namespace tranca::interleave {

namespace {

std::uint64_t factor() {
    const char* const text = std::getenv("TRANCA_INTERLEAVE_FACTOR");
    return text == nullptr ? 1 : std::max<std::uint64_t>(1, std::strtoull(text, nullptr, 10));
}

std::optional<choices> asked_for() {
    const char* const text = std::getenv("TRANCA_INTERLEAVE_REPLAY");
    if (text == nullptr) return std::nullopt;
    return parse_choices(text);
}

// All paths of a tree that is known only as far as it was walked: each walk repeats the last one but for its end.
class depth_first {
public:
    [[nodiscard]] std::size_t choose(const choices& possible) {
        if (depth_ == path_.size()) path_.push_back({0, possible});
        auto& here = path_[depth_++];
        if (here.possible == possible) return here.index;
        differ(possible);
        return std::min(here.index, possible.size() - 1);
    }

    // To the next path, or to the same one again if the machine stood still for so long that something was late in it.
    // False: there is none.
    [[nodiscard]] bool advance() {
        const bool repeats = std::exchange(differs_, false);
        path_.resize(repeats ? planned_ : depth_);
        depth_ = 0;
        if (repeats && ++repeated_ < most_repetitions) return true;
        is_whole_ = is_whole_ && !repeats;
        repeated_ = 0;
        while (!path_.empty() && path_.back().index + 1 >= path_.back().possible.size())
            path_.pop_back();
        planned_ = path_.size();
        if (path_.empty()) return false;
        ++path_.back().index;
        return true;
    }

    // Is what was walked last to be walked again?
    [[nodiscard]] bool differs() const { return differs_; }

    // Was every path walked? Not one that went otherwise each time.
    [[nodiscard]] bool is_whole() const { return is_whole_; }
    [[nodiscard]] const std::string& difference() const { return difference_; }

private:
    struct fork {
        std::size_t index;
        choices possible;
    };

    void differ(const choices& possible) {
        if (std::exchange(differs_, true)) return;  // what follows is another schedule
        choices before;
        for (std::size_t i = 0; i + 1 < depth_; ++i)
            before.push_back(path_[i].possible[path_[i].index]);
        difference_ =
            "after " + text(before) + ": once " + text(path_[depth_ - 1].possible) + ", once " + text(possible);
    }

    static constexpr int most_repetitions = 30;

    std::vector<fork> path_;
    std::size_t depth_{0};
    std::size_t planned_{0};  // so much of the path was chosen before it was walked
    bool differs_{false};
    int repeated_{0};
    bool is_whole_{true};
    std::string difference_;
};

outcome replayed(stage& all, const choices& made) {
    std::size_t next = 0;
    return all.run(
        [&](const choices& possible) -> std::size_t {
            if (next >= made.size()) return 0;
            const auto found = std::find(possible.begin(), possible.end(), made[next]);
            if (found == possible.end()) {
                next = made.size();
                return 0;
            }
            ++next;
            return static_cast<std::size_t>(found - possible.begin());
        },
        true);
}

// A flaw that does not come again is none: the machine stood still for seconds, in which something ended.
void note_flaw(stage& all, const outcome& one, verdict& found, choices& shortest) {
    const bool is_shortest = found.flawed == 0 || one.made.size() < shortest.size();
    if (is_shortest && !replayed(all, one.made).flaw) return;
    ++found.flawed;
    if (!is_shortest) return;
    found.flaw = one.flaw;
    shortest = one.made;
}

void draw_flaw(stage& all, const choices& shortest, verdict& found) {
    if (!found.flaw) return;
    found.schedule = text(shortest);
    const auto again = replayed(all, shortest);
    found.picture = again.picture;
    if (!again.flaw) found.picture += "(drawn when it was replayed, which went otherwise)\n";
}

std::string quoted(const std::string& plain) {
    std::string made = "\"";
    for (const char c : plain) {
        if (c == '"' || c == '\\') made += '\\';
        made += c >= ' ' ? c : ' ';
    }
    return made + "\"";
}

void write_report(const scenario& what, const verdict& found) {
    const char* const file = std::getenv("TRANCA_REPORT");
    if (file == nullptr) return;
    std::ofstream{file, std::ios::app} << R"({"part":"interleave","scenario":)" << quoted(what.name) << R"(,"clients":)"
                                       << what.clients.size() << R"(,"schedules":)" << found.schedules
                                       << R"(,"exhausted":)" << (found.exhausted ? "true" : "false") << R"(,"flaw":)"
                                       << (found.flaw ? quoted(*found.flaw) : "null") << "}\n";
}

verdict told(const scenario& what, verdict found, const testing::stopwatch& since_start) {
    const auto took = std::chrono::duration<double>{since_start.elapsed()}.count();
    std::cout << what.name << ", " << what.clients.size() << (what.clients.size() == 1 ? " client: " : " clients: ")
              << found.schedules << " schedules, " << (found.exhausted ? "exhausted" : "sampled") << ", flaw "
              << found.flaw.value_or("none") << " (" << static_cast<long>(static_cast<double>(found.schedules) / took)
              << "/s)\n";
    if (found.flaw)
        std::cout << "  in " << found.flawed << " of them, the shortest being " << found.schedule << "\n"
                  << found.picture;
    std::cout << std::flush;
    write_report(what, found);
    return found;
}

verdict replayed_and_told(testing::redis_server& server, const scenario& what, const choices& made) {
    const testing::stopwatch since_start;
    const auto one = replay(server, what, made);
    const verdict found{1, one.flaw ? 1U : 0U, false, one.flaw, text(one.made), one.picture, text(one.made)};
    if (!found.flaw) std::cout << found.picture;
    return told(what, found, since_start);
}

// Runs schedules until `more` says no.
template <class Choose, class More>
void run_all(stage& all, verdict& found, const Choose& choose, const More& more) {
    choices shortest, last;
    for (bool goes_on = true; goes_on;) {
        const auto one = all.run(choose);
        found.schedules += one.is_void ? 0 : 1;
        if (one.flaw) note_flaw(all, one, found, shortest);
        last = one.made;
        goes_on = more(one);
    }
    found.last = text(last);
    draw_flaw(all, shortest, found);
}

}  // namespace

verdict explore(testing::redis_server& server, const scenario& what, std::uint64_t most) {
    if (const auto made = asked_for()) return replayed_and_told(server, what, *made);
    const testing::stopwatch since_start;
    stage all{server, what};
    verdict found;
    depth_first paths;
    run_all(
        all, found, [&](const choices& possible) { return paths.choose(possible); },
        [&](const outcome& one) {
            if (paths.differs() && !one.is_void) --found.schedules;  // is repeated
            const bool is_last = !paths.advance();
            found.exhausted = is_last && paths.is_whole();
            return !is_last && found.schedules < most * factor();
        });
    if (!paths.is_whole()) std::cout << "  never the same: " << paths.difference() << "\n";
    return told(what, std::move(found), since_start);
}

verdict sample(testing::redis_server& server, const scenario& what, std::uint64_t count) {
    if (const auto made = asked_for()) return replayed_and_told(server, what, *made);
    const testing::stopwatch since_start;
    stage all{server, what};
    verdict found;
    std::mt19937_64 random{testing::seed(what.name)};
    run_all(
        all, found,
        [&](const choices& possible) {
            return std::uniform_int_distribution<std::size_t>{0, possible.size() - 1}(random);
        },
        [&](const outcome&) { return found.schedules < count * factor(); });
    return told(what, std::move(found), since_start);
}

outcome replay(testing::redis_server& server, const scenario& what, const choices& made) {
    stage all{server, what};
    return replayed(all, made);
}

}  // namespace tranca::interleave
