// What a lock over five masters costs: against the same by hand, written to all and then read from all; against asking
// one after another; over a network; and with one of the five frozen.

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tranca/client.hpp>
#include <tranca/quorum_mutex.hpp>
#include <tranca/scripts.hpp>

#include "measure/duel.hpp"
#include "measure/median.hpp"
#include "process/crew.hpp"
#include "process/interrupt.hpp"
#include "process/shared_array.hpp"
#include "raw/wire.hpp"
#include "report/numbers.hpp"
#include "sections/section.hpp"
#include "server/delaying_proxy.hpp"
#include "server/private_server.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t masters = 5;
constexpr auto added = 1000us;  // there and back together
constexpr auto ttl = 10'000ms;
constexpr auto time_limit = 50ms;

using endpoints = std::vector<endpoint>;

/// Redlock by hand, as short as it can be: SET NX PX (or, fenced, the library's script) and a compare-and-delete on every
/// node, written to all before any answer is read, every answer looked at.
class raw_quorum {
public:
    explicit raw_quorum(const endpoints& where) {
        for (const auto& each : where) {
            nodes_.push_back(std::make_unique<wire>(each));
            hash_ = nodes_.back()->ask("SCRIPT", "LOAD", release_text).text();
            fenced_hash_ = nodes_.back()->ask("SCRIPT", "LOAD", scripts::acquire_quorum().text()).text();
            fenced_release_hash_ = nodes_.back()->ask("SCRIPT", "LOAD", scripts::release_quorum().text()).text();
        }
    }

    void at_once() {
        const auto mine = token::generate();
        each([&](wire& node) { node.send("SET", "raw", mine, "NX", "PX", ttl_ms), flush(node); });
        require_majority([](const answer& one) { return !one.is_nil(); });
        each([&](wire& node) { node.send("EVALSHA", hash_, 1, "raw", mine), flush(node); });
        require_majority([](const answer& one) { return one.integer() == 1; });
    }

    /// One round trip to all of them.
    void ping() {
        each([&](wire& node) { node.send("PING"), flush(node); });
        each([&](wire& node) { static_cast<void>(node.next()); });
    }

    void fenced_at_once() {
        const auto mine = token::generate();
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto fence = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
        each([&](wire& node) {
            node.send("EVALSHA", fenced_hash_, 2, "raw", "{raw}:fence", mine, "me", ttl_ms, fence, fence - 8);
            flush(node);
        });
        require_majority([](const answer& one) { return !one.text().empty(); });
        each([&](wire& node) { node.send("EVALSHA", fenced_release_hash_, 1, "raw", mine), flush(node); });
        require_majority([](const answer& one) { return one.integer() == 1; });
    }

    void one_after_another() {
        const auto mine = token::generate();
        std::size_t granted = 0;
        each([&](wire& node) { granted += node.ask("SET", "raw", mine, "NX", "PX", ttl_ms).is_nil() ? 0U : 1U; });
        if (granted <= nodes_.size() / 2) throw std::runtime_error("a raw quorum was not granted");
        each([&](wire& node) { static_cast<void>(node.ask("EVALSHA", hash_, 1, "raw", mine)); });
    }

private:
    static constexpr std::string_view release_text =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    static constexpr auto ttl_ms = milliseconds{ttl};

    void each(const auto& what) {
        for (const auto& node : nodes_)
            what(*node);
    }
    void require_majority(const auto& is_yes) {
        std::size_t yes = 0;
        each([&](wire& node) { yes += is_yes(node.next()) ? 1U : 0U; });
        if (yes <= nodes_.size() / 2) throw std::runtime_error("a raw quorum was not granted");
    }
    static void flush(wire& node) {
        int done = 0;
        while (done == 0)
            if (redisBufferWrite(node.context(), &done) != REDIS_OK) throw std::runtime_error("cannot write");
    }

    std::vector<std::unique_ptr<wire>> nodes_;
    std::string hash_;
    std::string fenced_hash_;
    std::string fenced_release_hash_;
};

struct quorum_figures {
    double baseline_us = 0;
    double us = 0;
    double ratio = 0;
    double one_trip_share = 0;
    double longest_us = 0;
};

struct quorum_case {
    std::string name;
    std::string baseline;
    tranca::fencing fencing = fencing::on;
    int dead = 0;
    int delay_us = 0;
    double most = 0;        // what the ratio may be
    bool own_core = false;  // for the client, as on another machine
    quorum_figures figures{};
};

/// The library's cycle, and what it tells of its votes.
class library_quorum {
public:
    library_quorum(const endpoints& where, fencing fence) {
        for (const auto& each : where)
            clients_.emplace_back(each);
        quorum_options options;
        options.lease.ttl = ttl;
        options.lease.renew_every = 0ms;
        options.time_limit = time_limit;
        options.fencing = fence;
        lock_.emplace(std::span<const client>{clients_}, "quorum", options);
    }

    void cycle() {
        const auto begin = clock::now();
        const auto held = lock_->acquire();
        ++grants_;
        if (quorum_mutex::votes_for(held)->round_trips == 1) ++in_one_;
        longest_ = std::max(longest_, clock::now() - begin);
    }

    [[nodiscard]] double one_trip_share() const { return static_cast<double>(in_one_) / std::max(1, grants_); }
    [[nodiscard]] double longest_us() const { return std::chrono::duration<double, std::micro>(longest_).count(); }
    void forget_longest() { longest_ = {}; }

private:
    std::vector<client> clients_;
    std::optional<quorum_mutex> lock_;
    int grants_ = 0;
    int in_one_ = 0;
    clock::duration longest_{};
};

class quorum_section final : public section {
public:
    std::string_view name() const override { return "quorum"; }
    std::string_view summary() const override { return "acquire and release over five masters"; }

    void run(const stage& where, findings& found) override {
        for (std::size_t i = 0; i < masters; ++i)
            nodes_.push_back(std::make_unique<private_server>());
        for (const auto& each : nodes_)
            pin(each->pid(), {where.machine.back()});
        const auto local = all([](const private_server& one) { return one.over_unix(); });
        const auto loopback = all([](const private_server& one) { return one.over_tcp(); });
        measure({"five local masters", "the same by hand, at once", fencing::on, 0, 0, 1.10}, local,
                &raw_quorum::fenced_at_once, where, found);
        measure({"five without a fence", "SET NX PX by hand, at once", fencing::off, 0, 0, 1.10}, local,
                &raw_quorum::at_once, where, found);
        measure({"five over TCP", "SET NX PX, one by one", fencing::off, 0, 0, 0.85, true}, loopback,
                &raw_quorum::one_after_another, where, found);
        measure_far(loopback, where, found);
        measure_frozen(local, where, found);
        nodes_.clear();
    }

private:
    template <class Where>
    [[nodiscard]] endpoints all(const Where& where) const {
        endpoints made;
        for (const auto& each : nodes_)
            made.push_back(where(*each));
        return made;
    }

    /// In a process of its own; the library's first cycles connect.
    void in_a_child(const stage& where, quorum_case& one, const endpoints& nodes,
                    const std::function<void(library_quorum&, quorum_figures&, baton&)>& work, double seconds) {
        if (interrupt::requested()) return;
        where.told.begin(fmt::format("quorum: {}", one.name), seconds);
        shared_array<quorum_figures> shared(1);
        run_crew({.size = 1,
                  .length = {},
                  .work =
                      [&](int, baton& signs) {
                          library_quorum library(nodes, one.fencing);
                          signs.arrive();
                          work(library, shared[0], signs);
                          shared[0].one_trip_share = library.one_trip_share();
                      },
                  .where = {one.delay_us == 0 && !one.own_core ? where.machine.back() : where.machine.front()},
                  .tick = [&where](double elapsed) { where.told.tick(elapsed); }});
        one.figures = shared[0];
    }

    void measure(quorum_case one, const endpoints& nodes, void (raw_quorum::*by_hand)(), const stage& where,
                 findings& found) {
        const auto seconds = where.seconds(2, 4, 12);
        in_a_child(
            where, one, nodes,
            [&](library_quorum& library, quorum_figures& figures, baton& signs) {
                raw_quorum raw(nodes);
                const auto result = duel([&] { (raw.*by_hand)(); }, [&] { library.cycle(); }, seconds, signs);
                figures.baseline_us = result.baseline_us;
                figures.us = result.contender_us;
                figures.ratio = result.ratio;
            },
            seconds);
        record(std::move(one), found);
    }

    // Against a bare round trip to all five over the same proxies.
    void measure_far(const endpoints& nodes, const stage& where, findings& found) {
        std::vector<std::unique_ptr<delaying_proxy>> network;
        endpoints far;
        for (const auto& each : nodes) {
            network.push_back(std::make_unique<delaying_proxy>(each, added / 2));
            far.push_back(network.back()->where());
        }
        quorum_case one{
            "five over a network", "one round trip to all", fencing::on, 0, static_cast<int>(added.count()), 2.2};
        const auto seconds = where.seconds(2, 4, 12);
        in_a_child(
            where, one, far,
            [&](library_quorum& library, quorum_figures& figures, baton& signs) {
                raw_quorum bare(far);
                const auto result = duel([&] { bare.ping(); }, [&] { library.cycle(); }, seconds, signs);
                figures.baseline_us = result.baseline_us;
                figures.us = result.contender_us;
                figures.ratio = result.ratio;
            },
            seconds);
        record(std::move(one), found);
    }

    // The same cycle before and after one of the nodes is frozen.
    void measure_frozen(const endpoints& nodes, const stage& where, findings& found) {
        quorum_case one{"one of five frozen", "none frozen", fencing::on, 1, 0, 0};
        const auto victim = nodes_.back()->pid();
        const auto seconds = where.seconds(2, 4, 12);
        in_a_child(
            where, one, nodes,
            [&](library_quorum& library, quorum_figures& figures, baton& signs) {
                const auto median_for = [&](double length) {
                    std::vector<double> blocks;
                    const auto end = clock::now() + std::chrono::duration<double>(length);
                    while (clock::now() < end && !signs.stopped())
                        blocks.push_back(time_block([&] { library.cycle(); }, 20));
                    return median_of(std::move(blocks));
                };
                figures.baseline_us = median_for(seconds / 2);
                ::kill(victim, SIGSTOP);
                library.forget_longest();
                figures.us = median_for(seconds / 2);
                ::kill(victim, SIGCONT);
                figures.longest_us = library.longest_us();
                figures.ratio = figures.us / figures.baseline_us;
            },
            seconds);
        ::kill(victim, SIGCONT);  // also after an interrupt
        record(std::move(one), found);
    }

    void record(quorum_case one, findings& found) {
        found.rows.push_back({{"nodes", masters},
                              {"fenced", one.fencing == fencing::on},
                              {"dead", one.dead},
                              {"delay_us", one.delay_us},
                              {"us", one.figures.us},
                              {"ratio", one.figures.ratio},
                              {"one_trip_share", one.figures.one_trip_share}});
        cases_.push_back(std::move(one));
        found.tables = {table_of(cases_)};
        found.claims = claims_of(cases_);
    }

    static table table_of(const std::vector<quorum_case>& cases) {
        table made{"Quorum: acquire and release over five masters",
                   {{"", true, ""},
                    {"against", true, ""},
                    {"baseline", false, ""},
                    {"tranca", false, ""},
                    {"ratio", false, ""},
                    {"in one round trip", false, ""}},
                   {},
                   {"By hand: plain hiredis, every answer looked at, a fresh token each. All masters and the client "
                    "share one core; "
                    "the network is five proxies that run anywhere."}};
        for (const auto& one : cases)
            made.rows.push_back({one.name, one.baseline, time_text(one.figures.baseline_us), time_text(one.figures.us),
                                 fmt::format("{:.3f}", one.figures.ratio),
                                 fmt::format("{:.1f} %", 100 * one.figures.one_trip_share)});
        return made;
    }

    static std::vector<claim> claims_of(const std::vector<quorum_case>& cases) {
        std::vector<claim> claims;
        double least_share = 1;
        for (const auto& one : cases) {
            least_share = std::min(least_share, one.figures.one_trip_share);
            if (one.most > 0)
                claims.push_back(
                    {fmt::format("a quorum of {} costs at most {:.2f} times {}", one.name, one.most, one.baseline),
                     one.figures.ratio <= one.most,
                     fmt::format("{:.3f}: {} against {}", one.figures.ratio, time_text(one.figures.us),
                                 time_text(one.figures.baseline_us))});
            const auto most_us =
                one.figures.baseline_us + std::chrono::duration<double, std::micro>(time_limit).count();
            if (one.dead > 0)
                claims.push_back({"one of five masters frozen costs a time limit at most",
                                  one.figures.longest_us <= most_us,
                                  fmt::format("longest {}, usually {}", time_text(one.figures.longest_us),
                                              time_text(one.figures.us))});
        }
        claims.push_back({"at least nine of ten uncontended grants take one round trip", least_share >= 0.9,
                          fmt::format("{:.1f} %", 100 * least_share)});
        return claims;
    }

    std::vector<std::unique_ptr<private_server>> nodes_;
    std::vector<quorum_case> cases_;
};

const enlisted<quorum_section> here{70};

}  // namespace
}  // namespace tranca::bench
