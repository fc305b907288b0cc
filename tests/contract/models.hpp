// models: the primitives under the contract, each as one traits struct: how to make it, what it keeps on the
// server. `models()` at the end makes them into values for parameterised tests.
//
//     INSTANTIATE_TEST_SUITE_P(Every, Exclusion, ::testing::ValuesIn(models()), title_of);
//
// Another primitive joins by a struct of its own and one more line in models(); no test changes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/tranca.hpp>

#include "contract/any_primitive.hpp"
#include "support/raw_client.hpp"

namespace tranca::contract {

using testing::raw_client;
using namespace std::chrono_literals;

/// What a test may ask of a primitive that is to be made.
struct wish {
    std::string name{"thing"};
    milliseconds ttl{10'000};
    milliseconds poll{1};
    std::int64_t limit{1};
    std::optional<milliseconds> margin{};

    [[nodiscard]] lease_options lease() const { return {.ttl = ttl, .margin = margin}; }
};

/// Locks of the book: the key holds the owner's token and nothing else.
struct key_traits {
    static constexpr bool rests_until_told = true;     // by its period, or by a wake-up: never by itself
    static constexpr std::size_t script_commands = 3;  // at most, to a server that keeps none
    static constexpr bool has_limit = false;           // admits one, whatever the wish says
    static constexpr bool tells_taken = true;          // a release can see that the key is another owner's
    static constexpr bool any_name = true;             // also names with lonely braces
    static constexpr bool polls = true;                // has a period to wait by
    static constexpr bool has_helper_names = false;    // endings of names that are keys of another one
    static constexpr std::int64_t largest_limit = 1;

    static std::string key_of(const std::string& name) { return "lock:" + name; }
    static std::vector<std::string> lasting_keys(const std::string&) { return {}; }
    static std::int64_t holders(raw_client& raw, const std::string& name) { return raw.exists(key_of(name)); }
    static std::string owner(raw_client& raw, const std::string& name) { return raw.get(key_of(name)).value_or(""); }

    static std::int64_t milliseconds_left(raw_client& raw, const std::string& name, milliseconds) {
        return raw.pttl(key_of(name));
    }
    static void let_lapse(raw_client& raw, const std::string& name) { raw.must({"PEXPIREAT", key_of(name), "1000"}); }
    static void occupy(raw_client& raw, const std::string& name) {
        raw.must({"SET", key_of(name), "foreign", "PX", "60000"});
    }
    static void vacate(raw_client& raw, const std::string& name) { raw.del(key_of(name)); }
};

/// Semaphores of the book: a sorted set of tokens by time.
struct set_traits {
    static constexpr bool rests_until_told = true;     // by its period, or by a wake-up: never by itself
    static constexpr std::size_t script_commands = 3;  // at most, to a server that keeps none
    static constexpr bool has_ttl = true;
    static constexpr bool has_limit = true;
    static constexpr bool tells_taken = false;
    static constexpr bool any_name = false;
    static constexpr bool polls = true;
    static constexpr bool has_helper_names = true;
    static constexpr std::int64_t largest_limit = std::numeric_limits<std::int64_t>::max();

    static std::string key_of(const std::string& name) { return name; }
    static std::vector<std::string> lasting_keys(const std::string&) { return {}; }
    static std::int64_t holders(raw_client& raw, const std::string& name) {
        return raw.must({"ZCARD", key_of(name)}).integer;
    }
    static std::string owner(raw_client& raw, const std::string& name) {
        const auto first = raw.must({"ZRANGE", key_of(name), "0", "0"});
        return first.size() == 0 ? "" : first[0].text;
    }
    static std::int64_t milliseconds_left(raw_client& raw, const std::string& name, milliseconds ttl) {
        const auto start = std::stod(raw.must({"ZSCORE", key_of(name), owner(raw, name)}).text);
        return std::llround((start - seconds_now()) * 1'000) + ttl.count();
    }
    static double seconds_now() {
        return std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
    }
    static void let_lapse(raw_client& raw, const std::string& name) {
        for (const auto& member : raw.must({"ZRANGE", key_of(name), "0", "-1"}).items)
            raw.must({"ZADD", key_of(name), "XX", "1", member.text});
    }
    static void occupy(raw_client& raw, const std::string& name) {
        raw.del(key_of(name));
        raw.must({"ZADD", key_of(name), std::to_string(seconds_now()), "foreign"});
    }
    static void vacate(raw_client& raw, const std::string& name) { raw.must({"ZREM", key_of(name), "foreign"}); }
};

/// With a second set that orders the holders. The counter behind it stays for ever: its header says so.
struct ordered_set_traits : set_traits {
    static std::string order_of(const std::string& name) { return name + ":owner"; }
    static std::vector<std::string> lasting_keys(const std::string& name) { return {name + ":counter"}; }
    static void occupy(raw_client& raw, const std::string& name) {
        set_traits::occupy(raw, name);
        raw.del(order_of(name));
        raw.must({"ZADD", order_of(name), "-1", "foreign"});
    }
    static void vacate(raw_client& raw, const std::string& name) {
        set_traits::vacate(raw, name);
        raw.must({"ZREM", order_of(name), "foreign"});
    }
};

struct naive_lock_traits : key_traits {
    static constexpr const char* title = "naive_lock";
    static constexpr bool is_exact = true;  // keeps its number of holders, whatever the interleaving
    static constexpr bool has_ttl = false;
    static constexpr const char* attempt_command = "setnx";  // as commandstats names it; sent once an attempt
    static constexpr const char* refusal_command = "setnx";  // ... and the last one of an attempt in vain
    static constexpr const char* grant = "SETNX";            // what makes it a holder ...
    static constexpr std::size_t grant_number = 1;           // ... if it is the how-manieth of an attempt

    static ladder::naive_lock make(const client& redis, const wish& how) {
        return {redis, how.name, {.poll = how.poll}};
    }
};

struct timeout_lock_traits : key_traits {
    static constexpr const char* title = "timeout_lock";
    static constexpr bool is_exact = true;
    static constexpr bool has_ttl = true;
    static constexpr const char* attempt_command = "setnx";
    static constexpr const char* refusal_command = "ttl";
    static constexpr const char* grant = "SETNX";
    static constexpr std::size_t grant_number = 1;

    static ladder::timeout_lock make(const client& redis, const wish& how) {
        return {redis, how.name, {.lease = how.lease(), .poll = how.poll}};
    }
};

struct px_lock_traits : key_traits {
    static constexpr const char* title = "px_lock";
    static constexpr bool is_exact = true;
    static constexpr bool has_ttl = true;
    static constexpr const char* attempt_command = "set";
    static constexpr const char* refusal_command = "set";
    static constexpr const char* grant = "SET";
    static constexpr std::size_t grant_number = 1;

    static ladder::px_lock make(const client& redis, const wish& how) {
        return {redis, how.name, {.lease = how.lease(), .poll = how.poll}};
    }
};

struct mutex_traits : key_traits {
    static constexpr const char* title = "mutex";
    static constexpr bool is_exact = true;
    static constexpr bool has_ttl = true;
    static constexpr bool any_name = false;
    static constexpr bool polls = false;
    static constexpr const char* attempt_command = "time";
    static constexpr const char* refusal_command = "pttl";
    static constexpr const char* grant = "EVALSHA";
    static constexpr std::size_t grant_number = 1;

    static std::string owner(raw_client& raw, const std::string& name) {
        return key_traits::owner(raw, name).substr(0, 32);
    }
    static std::vector<std::string> lasting_keys(const std::string& name) {
        return {"{lock:" + name + "}:fence", "{lock:" + name + "}:wait", "{lock:" + name + "}:wake"};
    }
    // Renewed by hand only, as the contract wants to see a lease end.
    static mutex make(const client& redis, const wish& how) {
        auto lease = how.lease();
        lease.renew_every = 0ms;
        return {redis, how.name, {.lease = lease}};
    }
};

/// Two names at once; the contract looks at the first, and finds whatever the second leaves behind.
struct multi_mutex_traits : mutex_traits {
    static constexpr const char* title = "multi_mutex";

    static std::string second(const std::string& name) { return name + "~"; }
    static std::vector<std::string> lasting_keys(const std::string& name) {
        auto keys = mutex_traits::lasting_keys(name);
        for (auto& key : mutex_traits::lasting_keys(second(name)))
            keys.push_back(std::move(key));
        return keys;
    }
    static void let_lapse(raw_client& raw, const std::string& name) {
        key_traits::let_lapse(raw, name);
        key_traits::let_lapse(raw, second(name));
    }
    // Renewed by hand only, as the contract wants to see a lease end.
    static multi_mutex make(const client& redis, const wish& how) {
        auto lease = how.lease();
        lease.renew_every = 0ms;
        return {redis, {second(how.name), how.name}, {.lease = lease}};
    }
};

struct clock_semaphore_traits : set_traits {
    static constexpr const char* title = "clock_semaphore";
    static constexpr bool is_exact = false;
    static constexpr const char* attempt_command = "zadd";
    static constexpr const char* refusal_command = "zrem";
    static constexpr const char* grant = "EXEC";
    static constexpr std::size_t grant_number = 1;

    static ladder::clock_semaphore make(const client& redis, const wish& how) {
        return {redis, how.name, how.limit, {.lease = how.lease(), .poll = how.poll}};
    }
};

struct fair_semaphore_traits : ordered_set_traits {
    static constexpr const char* title = "fair_semaphore";
    static constexpr bool is_exact = false;
    static constexpr const char* attempt_command = "incr";
    static constexpr const char* refusal_command = "zrem";
    static constexpr const char* grant = "EXEC";
    static constexpr std::size_t grant_number = 2;

    static ladder::fair_semaphore make(const client& redis, const wish& how) {
        return {redis, how.name, how.limit, {.lease = how.lease(), .poll = how.poll}};
    }
};

struct guarded_semaphore_traits : ordered_set_traits {
    static constexpr const char* title = "guarded_semaphore";
    static constexpr bool is_exact = true;
    static constexpr const char* attempt_command = "incr";
    static constexpr const char* refusal_command = "zrem";
    static constexpr const char* grant = "EXEC";
    static constexpr std::size_t grant_number = 2;

    static ladder::guarded_semaphore make(const client& redis, const wish& how) {
        return {redis, how.name, how.limit, {.lease = how.lease(), .poll = how.poll}};
    }
};

/// Tokens by the end of each lease on the server's clock, and a hash beside them that counts.
struct semaphore_traits : set_traits {
    static constexpr const char* title = "semaphore";
    static constexpr bool is_exact = true;
    static constexpr bool polls = false;
    static constexpr bool has_helper_names = false;
    static constexpr std::int64_t largest_limit = std::int64_t{1} << 31;
    static constexpr const char* attempt_command = "zcard";
    static constexpr const char* refusal_command = "zrange";
    static constexpr const char* grant = "EVALSHA";
    static constexpr std::size_t grant_number = 1;

    static std::string key_of(const std::string& name) { return "semaphore:" + name; }
    static std::string state_of(const std::string& name) { return "{semaphore:" + name + "}:state"; }
    static std::vector<std::string> lasting_keys(const std::string& name) {
        return {state_of(name), "{semaphore:" + name + "}:wake", "{semaphore:" + name + "}:turn"};
    }
    // Not by ZCARD and ZRANGE, by which attempts and refusals are counted.
    static std::int64_t holders(raw_client& raw, const std::string& name) {
        return raw.must({"ZCOUNT", key_of(name), "-inf", "+inf"}).integer;
    }
    static std::string owner(raw_client& raw, const std::string& name) {
        const auto first = raw.must({"ZREVRANGE", key_of(name), "-1", "-1"});
        return first.size() == 0 ? "" : first[0].text;
    }
    static std::int64_t now(raw_client& raw) {
        const auto time = raw.must({"TIME"});
        return std::stoll(time[0].text) * 1'000 + std::stoll(time[1].text) / 1'000;
    }
    static std::int64_t milliseconds_left(raw_client& raw, const std::string& name, milliseconds) {
        return std::llround(std::stod(raw.must({"ZSCORE", key_of(name), owner(raw, name)}).text)) - now(raw);
    }
    static void let_lapse(raw_client& raw, const std::string& name) {
        for (const auto& member : raw.must({"ZRANGE", key_of(name), "0", "-1"}).items)
            raw.must({"ZADD", key_of(name), "XX", "1", member.text});
    }
    static void occupy(raw_client& raw, const std::string& name) {
        raw.must({"DEL", key_of(name), state_of(name)});
        raw.must({"ZADD", key_of(name), std::to_string(now(raw) + 60'000), "foreign"});
        // limit, used, fence, next, top, spare, lives, watch
        raw.must({"HSET", state_of(name), "books", "1 1 1 1 0 - 0 0", "declared", "1", "foreign", "0|1|it"});
    }
    static void vacate(raw_client& raw, const std::string& name) { raw.must({"ZREM", key_of(name), "foreign"}); }

    // Renewed by hand only, as the contract wants to see a lease end.
    static semaphore make(const client& redis, const wish& how) {
        auto lease = how.lease();
        lease.renew_every = 0ms;
        return {redis, how.name, how.limit, {.lease = lease}};
    }
};

/// Those that serve who waits in the order of arrival.
struct line_mutex_traits : mutex_traits {
    static constexpr const char* title = "mutex_in_line";

    static std::vector<std::string> lasting_keys(const std::string& name) { return {"{lock:" + name + "}:fence"}; }
    static mutex make(const client& redis, const wish& how) {
        auto lease = how.lease();
        lease.renew_every = 0ms;
        return {redis, how.name, {.lease = lease, .fairness = fairness::on}};
    }
};

struct line_semaphore_traits : semaphore_traits {
    static constexpr const char* title = "semaphore_in_line";

    static semaphore make(const client& redis, const wish& how) {
        auto lease = how.lease();
        lease.renew_every = 0ms;
        return {redis, how.name, how.limit, {.lease = lease, .fairness = fairness::on}};
    }
};

/// A hash of the mode, of the earliest end and of each holder's 'end|fence|change|label'.
struct shared_mutex_traits : key_traits {
    static constexpr const char* title = "shared_mutex";
    static constexpr bool is_exact = true;
    static constexpr bool has_ttl = true;
    static constexpr bool any_name = false;
    static constexpr bool polls = false;
    static constexpr const char* attempt_command = "exists";
    static constexpr const char* refusal_command = "exists";  // where there is a holder
    static constexpr const char* grant = "EVALSHA";
    static constexpr std::size_t grant_number = 1;

    static std::vector<std::string> lasting_keys(const std::string& name) {
        const auto helper = "{lock:" + name + "}:";
        return {helper + "state", helper + "write", helper + "read", helper + "upgrade"};
    }
    static std::vector<std::string> tokens(raw_client& raw, const std::string& name) {
        std::vector<std::string> all;
        for (const auto& field : raw.must({"HKEYS", key_of(name)}).items)
            if (field.text != "mode" && field.text != "first") all.push_back(field.text);
        return all;
    }
    static std::int64_t holders(raw_client& raw, const std::string& name) {
        return static_cast<std::int64_t>(tokens(raw, name).size());
    }
    static std::string owner(raw_client& raw, const std::string& name) {
        const auto all = tokens(raw, name);
        return all.empty() ? "" : all.front();
    }
    static std::int64_t milliseconds_left(raw_client& raw, const std::string& name, milliseconds) {
        const auto entry = raw.must({"HGET", key_of(name), owner(raw, name)}).text;
        return entry.empty() ? 0 : std::stoll(entry) - semaphore_traits::now(raw);  // empty: gone meanwhile
    }
    static void let_lapse(raw_client& raw, const std::string& name) {
        for (const auto& token : tokens(raw, name))
            raw.must({"HSET", key_of(name), "first", "1", token, "1|1|0|it"});
    }
    static void occupy(raw_client& raw, const std::string& name) {
        const auto end = std::to_string(semaphore_traits::now(raw) + 60'000);
        raw.del(key_of(name));
        raw.must({"HSET", key_of(name), "mode", "exclusive", "first", end, "foreign", end + "|1|0|it"});
    }

    static shared_mutex make(const client& redis, const wish& how) { return make_rival(redis, how); }
    // Renewed by hand only, as the contract wants to see a lease end.
    static shared_mutex make_rival(const client& redis, const wish& how) {
        auto lease = how.lease();
        lease.renew_every = 0ms;
        return {redis, how.name, {.lease = lease}};
    }
};

/// Its readers, who keep out no reader, but a writer.
struct shared_side_traits : shared_mutex_traits {
    static constexpr const char* title = "shared_side";
    static constexpr bool is_exact = false;

    static shared_side make(const client& redis, const wish& how) { return make_rival(redis, how).shared(); }
};

/// Of one master, which is then what a mutex is, but for its pauses.
struct quorum_traits : mutex_traits {
    static constexpr const char* title = "quorum";
    static constexpr bool rests_until_told = false;
    static constexpr std::size_t script_commands =
        8;  // those it tells the server with a connection, and those it asks by

    static std::vector<std::string> lasting_keys(const std::string& name) { return {"{lock:" + name + "}:fence"}; }
    static quorum_mutex make(const client& redis, const wish& how) {
        auto lease = how.lease();
        lease.renew_every = 0ms;
        return {{redis}, how.name, {.lease = lease, .time_limit = redis.where().command_timeout, .drift = 0ms}};
    }
};

/// A traits struct as a value.
struct model {
    std::string title;
    bool has_ttl;
    bool has_limit;
    bool is_exact;
    bool tells_taken;
    bool any_name;
    bool polls;
    bool has_helper_names;
    bool rests_until_told;
    std::size_t script_commands;
    std::int64_t largest_limit;
    std::string attempt_command;
    std::string refusal_command;
    std::string grant;
    std::size_t grant_number;
    std::function<any_primitive(const client&, const wish&)> make;
    std::function<any_primitive(const client&, const wish&)> make_rival;  // what a holder of it keeps out
    std::function<std::string(const std::string& name)> key_of;
    std::function<std::vector<std::string>(const std::string& name)> lasting_keys;  // may stay when nobody holds
    std::function<std::int64_t(raw_client&, const std::string& name)> holders;
    std::function<std::string(raw_client&, const std::string& name)> owner;  // the token of the first of them
    std::function<std::int64_t(raw_client&, const std::string& name, milliseconds ttl)> milliseconds_left;
    std::function<void(raw_client&, const std::string& name)> let_lapse;  // as if every holder's time were over
    std::function<void(raw_client&, const std::string& name)> occupy;     // "foreign" is now the only holder
    std::function<void(raw_client&, const std::string& name)> vacate;     // ... and is gone

    friend std::ostream& operator<<(std::ostream& out, const model& of) { return out << of.title; }
};

template <class Traits>
any_primitive rival_of(const client& redis, const wish& how) {
    if constexpr (requires { Traits::make_rival(redis, how); }) return any_primitive{Traits::make_rival(redis, how)};
    else return any_primitive{Traits::make(redis, how)};
}

template <class Traits>
model as_model() {
    return {.title = Traits::title,
            .has_ttl = Traits::has_ttl,
            .has_limit = Traits::has_limit,
            .is_exact = Traits::is_exact,
            .tells_taken = Traits::tells_taken,
            .any_name = Traits::any_name,
            .polls = Traits::polls,
            .has_helper_names = Traits::has_helper_names,
            .rests_until_told = Traits::rests_until_told,
            .script_commands = Traits::script_commands,
            .largest_limit = Traits::largest_limit,
            .attempt_command = Traits::attempt_command,
            .refusal_command = Traits::refusal_command,
            .grant = Traits::grant,
            .grant_number = Traits::grant_number,
            .make = [](const client& redis, const wish& how) { return any_primitive{Traits::make(redis, how)}; },
            .make_rival = rival_of<Traits>,
            .key_of = Traits::key_of,
            .lasting_keys = Traits::lasting_keys,
            .holders = Traits::holders,
            .owner = Traits::owner,
            .milliseconds_left = Traits::milliseconds_left,
            .let_lapse = Traits::let_lapse,
            .occupy = Traits::occupy,
            .vacate = Traits::vacate};
}

/// Every primitive that keeps the contract.
[[nodiscard]] const std::vector<model>& models();

/// "Exclusion.KeepsASecondClientOut/px_lock"
[[nodiscard]] inline std::string title_of(const ::testing::TestParamInfo<model>& info) { return info.param.title; }

}  // namespace tranca::contract
