// Servers that know what a lock is and answer something else: nothing crashes, hangs, leaks or is taken for success,
// whichever command of an operation it hits. What a connection makes of such bytes: connection_bad_server_test.cpp.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tranca/tranca.hpp>

#include "contract/any_primitive.hpp"
#include "support/deadline.hpp"
#include "support/fake_server.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using contract::any_primitive;
using namespace std::chrono_literals;

// What a command is for. The scripts are told apart by how many arguments follow their keys.
enum class role { load, acquire, extend, release, block, other };

role role_of(const seen_command& command) {
    const auto& words = command.arguments;
    if (words.at(0) == "SCRIPT") return role::load;
    if (words.at(0) == "BLPOP") return role::block;
    if (words.at(0) != "EVALSHA" && words.at(0) != "EVAL") return role::other;
    switch (words.size() - 3 - std::stoul(words.at(2))) {
    case 1: return role::release;
    case 2: return role::extend;
    default: return role::acquire;
    }
}

std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}

const std::string fence_text = bulk("1795952983206900");
const std::string nil = "$-1\r\n";
const std::string woken = "*2\r\n" + bulk("list") + bulk("1");
const std::string busy = "*1\r\n:30\r\n";

struct hostile_model {
    std::string title;
    std::string grant;
    any_primitive (*make)(const client&);

    friend std::ostream& operator<<(std::ostream& out, const hostile_model& of) { return out << of.title; }
};

const lease_options by_hand{.ttl = 10s, .renew_every = 0ms};

std::vector<hostile_model> hostile_models() {
    const auto slot = "*2\r\n" + bulk("0") + fence_text;
    return {{"mutex", fence_text,
             [](const client& redis) {
                 return any_primitive{mutex{redis, "a", {.lease = by_hand}}};
             }},
            {"unfenced_mutex", "*2\r\n" + bulk("") + ":1\r\n",
             [](const client& redis) {
                 return any_primitive{mutex{redis, "a", {.lease = by_hand, .fencing = fencing::off}}};
             }},
            {"fair_mutex", fence_text,
             [](const client& redis) {
                 return any_primitive{mutex{redis, "a", {.lease = by_hand, .fairness = fairness::on}}};
             }},
            {"semaphore", slot,
             [](const client& redis) {
                 return any_primitive{semaphore{redis, "a", 1, {.lease = by_hand}}};
             }},
            {"fair_semaphore", slot, [](const client& redis) {
                 return any_primitive{semaphore{redis, "a", 1, {.lease = by_hand, .fairness = fairness::on}}};
             }}};
}

// Answers as Redis would - busy so many times, then a grant - but for what a test says of one role.
class liar {
public:
    explicit liar(std::string grant, int times_busy = 0) : grant_(std::move(grant)), times_busy_(times_busy) {
        server.answer_with([this](const seen_command& command) { return answer(command); });
    }

    /// To the commands of this role, from the how-manieth to the last.
    void lie(role about, fake_answer with, int first = 1, int last = 1'000'000) {
        const std::lock_guard lock{mutex_};
        about_ = about;
        with_ = std::move(with);
        first_ = first;
        last_ = last;
    }

    /// Was the last command of this role answered as Redis would?
    [[nodiscard]] bool was_honest(role about) const { return honest_.at(static_cast<std::size_t>(about)); }
    [[nodiscard]] bool granted() const { return was_honest(role::acquire) && granted_; }
    [[nodiscard]] std::size_t sent(role about) const {
        return server.commands(command_match{[about](const seen_command& one) { return role_of(one) == about; }});
    }

private:
    fake_answer answer(const seen_command& command) {
        const std::lock_guard lock{mutex_};
        const auto what = role_of(command);
        const int number = what == about_ ? ++seen_ : 0;
        const bool lies = what == about_ && number >= first_ && number <= last_;
        honest_.at(static_cast<std::size_t>(what)) = !lies;
        return lies ? with_ : honest_answer(what, command);
    }

    fake_answer honest_answer(role what, const seen_command& command) {
        switch (what) {
        case role::load: return {.bytes = bulk(std::string(40, 'a'))};
        case role::extend:
        case role::release: return {.bytes = ":1\r\n"};
        case role::block: return {.bytes = woken};
        case role::acquire: granted_ = times_busy_-- <= 0; return {.bytes = granted_ ? grant_ : busy};
        case role::other: break;
        }
        const auto& words = command.arguments;
        if (words.size() > 1 && words.at(1) == "INFO") return {.bytes = bulk("id=7 addr=127.0.0.1:1 laddr=1\n")};
        if (words.size() > 1 && words.at(1) == "UNBLOCK") return {.bytes = ":0\r\n"};
        return {.bytes = "*0\r\n"};
    }

    std::string grant_;
    int times_busy_;
    role about_{role::other};
    fake_answer with_{.bytes = "*0\r\n"};
    int first_{1};
    int last_{0};
    int seen_{0};
    std::array<std::atomic<bool>, 6> honest_{};
    std::atomic<bool> granted_{false};
    std::mutex mutex_;  // of the test's thread and the server's

public:
    fake_server server{never_answering()};  // the last: what it asks for lives longer
};

// Errors of every kind: the server did nothing, and says why.
std::vector<std::string> refusals() {
    std::vector<std::string> all;
    for (const auto* text : {"ERR no",
                             "LOADING Redis is loading",
                             "READONLY You can't write",
                             "BUSY Redis is busy",
                             "TRYAGAIN Multiple keys",
                             "CLUSTERDOWN The cluster is down",
                             "MASTERDOWN Link is down",
                             "NOREPLICAS Not enough",
                             "OOM command not allowed",
                             "MISCONF Redis is configured",
                             "NOPERM no permissions",
                             "NOAUTH Authentication required.",
                             "WRONGTYPE Operation",
                             "MOVED 1 127.0.0.1:1",
                             "ASK 1 127.0.0.1:1",
                             "MOVED",
                             "NOSCRIPT No matching script.",
                             "UNBLOCKED force",
                             "EXECABORT Transaction",
                             "CROSSSLOT Keys",
                             "ERR max number of clients reached",
                             ""})
        all.push_back("-" + std::string{text} + "\r\n");
    all.push_back("-ERR " + std::string(100'000, 'x') + "\r\n");
    return all;
}

// Answers to another question, nonsense, too much and too little.
std::vector<fake_answer> nonsense() {
    std::vector<fake_answer> all;
    for (const auto* bytes : {"$-1\r\n",
                              "*-1\r\n",
                              ":2\r\n",
                              ":-9223372036854775808\r\n",
                              "+QUEUED\r\n",
                              "+PONG\r\n",
                              "$0\r\n\r\n",
                              "$5\r\nhello\r\n",
                              "$1\r\n0\r\n",
                              "$16\r\n9007199254740992\r\n",
                              "*0\r\n",
                              "*1\r\n$-1\r\n",
                              "*1\r\n*0\r\n",
                              "*2\r\n:1\r\n:1\r\n",
                              "*2\r\n$4\r\nlist\r\n$1\r\n1\r\n",
                              "*2\r\n$0\r\n\r\n$1\r\n1\r\n",
                              "*2\r\n$3\r\n0,1\r\n$1\r\n1\r\n",
                              "*2\r\n$2\r\n-1\r\n$1\r\n1\r\n",
                              "*2\r\n$1\r\n0\r\n$1\r\n0\r\n",
                              "*3\r\n$1\r\n1\r\n:1\r\n$20\r\n18446744073709551615\r\n",
                              "*3\r\n:1\r\n:2\r\n:3\r\n",
                              "*3\r\n$4\r\nsome\r\n:5\r\n:4\r\n",
                              "*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n",
                              "what?\r\n",
                              ":12x\r\n",
                              "$-7\r\n",
                              "*1000000000\r\n",
                              "*1\r\n*1000000000\r\n"})
        all.push_back({.bytes = bytes});
    all.push_back(nested_arrays(10'000)({}));
    all.push_back(huge_array(100'000)({}));
    all.push_back(huge_bulk(std::size_t{1} << 20U)({}));
    for (const auto how : {ending::close, ending::reset}) {
        all.push_back({.bytes = "", .then = how});
        all.push_back({.bytes = "*3\r\n:1\r\n", .then = how});
    }
    all.push_back({.bytes = ""});
    all.push_back({.bytes = "$16\r\n1795"});
    all.push_back({.bytes = "$536870912\r\n"});
    return all;
}

std::string shown(const fake_answer& one) {
    return printable(one.bytes, 60) + (one.then == ending::keep_open ? "" : " and the end");
}

class HostileServer : public ::testing::TestWithParam<hostile_model> {
protected:
    [[nodiscard]] static client client_of(const liar& to) {
        return client{to.server.url() + "?command_timeout=60ms&connect_timeout=500ms"};
    }

    /// One attempt, which waits if it finds it busy once, on a server that lies.
    void attempt(role about, const fake_answer& lie, bool waits, bool once, bool may_have_been_done) {
        SCOPED_TRACE((waits ? "waiting, " : "trying, ") + std::to_string(static_cast<int>(about)) +
                     (once ? " once: " : ": ") + shown(lie));
        liar redis{GetParam().grant, waits ? 1 : 0};
        redis.lie(about, lie, 1, once ? 1 : 1'000'000);
        const stopwatch since_start;
        {
            const auto caller = client_of(redis);
            const auto primitive = GetParam().make(caller);
            std::optional<guard> held;
            std::optional<error> failure;
            try {
                held = waits ? primitive.try_acquire_for(150ms) : primitive.try_acquire();
            } catch (const error& thrown) {
                failure = thrown;
            }
            EXPECT_TRUE(!held || redis.granted()) << "taken for a grant";
            const bool doubtful = may_have_been_done && about == role::acquire && !redis.was_honest(role::acquire);
            EXPECT_TRUE(held || !doubtful || failure) << "taken for busy";
            EXPECT_TRUE(!doubtful || !failure || failure->in_doubt() || redis.sent(role::release) > 1)
                << "taken for nothing: " << failure->what();
        }
        EXPECT_LT(since_start.elapsed(), 3s);
        EXPECT_TRUE(eventually(2s, [&] { return redis.server.connections_open() == 0; }));
    }

    void attempt_all(role about, bool waits) {
        for (const bool once : {true, false}) {
            for (const auto& one : nonsense())
                attempt(about, one, waits, once, true);
            for (const auto& one : refusals())
                attempt(about, {.bytes = one}, waits, once, false);
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Every, HostileServer, ::testing::ValuesIn(hostile_models()),
                         [](const auto& which) { return which.param.title; });

// What the others are measured by: without a lie all goes well.
TEST_P(HostileServer, ThatDoesNotLieIsBelieved) {
    for (const int times_busy : {0, 2}) {
        liar redis{GetParam().grant, times_busy};
        const auto caller = client{redis.server.url()};
        auto held = GetParam().make(caller).try_acquire_for(10s);
        ASSERT_TRUE(held && *held);
        EXPECT_TRUE(redis.granted());
        EXPECT_EQ(redis.sent(role::acquire), static_cast<std::size_t>(times_busy) + 1);
        EXPECT_TRUE(held->extend());
        EXPECT_EQ(held->release(), release_result::released);
    }
}

TEST_P(HostileServer, IsNotBelievedWhenItIsAsked) {
    for (const auto about : {role::load, role::release, role::acquire})
        attempt_all(about, false);
}

TEST_P(HostileServer, IsNotBelievedWhenItIsWaitedFor) {
    for (const auto about : {role::acquire, role::block, role::other})
        attempt_all(about, true);
}

TEST_P(HostileServer, IsNotBelievedWhenMoreTimeIsAskedFor) {
    auto answers = nonsense();
    for (auto& one : refusals())
        answers.push_back({.bytes = std::move(one)});
    for (const auto& one : answers) {
        SCOPED_TRACE(shown(one));
        liar redis{GetParam().grant};
        const auto caller = client_of(redis);
        auto held = GetParam().make(caller).try_acquire_for(10s);
        ASSERT_TRUE(held);
        redis.lie(role::extend, one);
        const auto until = held->safe_until();
        const stopwatch since_start;
        bool extended = false;
        bool refused = false;
        try {
            extended = held->extend(20s);
        } catch (const error&) {
            refused = true;
        }
        EXPECT_FALSE(extended);
        EXPECT_LT(since_start.elapsed(), 2s);
        EXPECT_LE(held->safe_until(), until);
        EXPECT_TRUE(refused || !*held) << "neither lost nor an error";
    }
}

// The server may have set it: until something else is known, that is what counts.
TEST_P(HostileServer, ThatAnswersAnExtensionByNonsenseMayHaveSetAShorterTime) {
    for (const auto& one : {"+QUEUED\r\n", "$5\r\nhello\r\n", "*0\r\n"}) {
        liar redis{GetParam().grant};
        const auto caller = client{redis.server.url()};
        auto held = GetParam().make(caller).try_acquire_for(10s);
        ASSERT_TRUE(held);
        redis.lie(role::extend, {.bytes = one});
        const auto failure = thrown_by([&] { return held->extend(2s); });
        EXPECT_EQ(failure.code(), errc::protocol);
        EXPECT_TRUE(failure.in_doubt());
        EXPECT_LE(held->safe_until(), clock::now() + 2s);
    }
}

TEST_P(HostileServer, IsNotBelievedAboutARelease) {
    auto answers = nonsense();
    for (auto& one : refusals())
        answers.push_back({.bytes = std::move(one)});
    for (const auto& one : answers) {
        SCOPED_TRACE(shown(one));
        liar redis{GetParam().grant};
        const auto caller = client_of(redis);
        const auto primitive = GetParam().make(caller);
        for (const bool asks : {true, false}) {
            redis.lie(role::other, {}, 1, 0);
            auto held = primitive.try_acquire_for(10s);
            ASSERT_TRUE(held);
            redis.lie(role::release, one);
            const stopwatch since_start;
            if (asks) {
                EXPECT_NE(held->release(), release_result::released);
                EXPECT_FALSE(*held);
            }
            held.reset();  // asked or not, it throws nothing
            EXPECT_LT(since_start.elapsed(), 2s);
        }
    }
}

// The answers to what was sent in one write, in another order, or one too many before them.
TEST_P(HostileServer, ThatMixesUpItsAnswersGrantsNothing) {
    const auto& grant = GetParam().grant;
    struct mix_up {
        std::string to_block;
        std::string to_acquire;
    };
    for (const auto& one : {mix_up{grant, nil}, mix_up{busy, nil}, mix_up{grant, woken}, mix_up{busy, woken},
                            mix_up{":1\r\n", grant}, mix_up{"+OK\r\n", grant}, mix_up{nil + nil, grant},
                            mix_up{woken + woken, grant}, mix_up{busy + nil, grant}}) {
        SCOPED_TRACE(printable(one.to_block) + " and " + printable(one.to_acquire));
        fake_server server{never_answering()};
        std::atomic<int> asked{0};
        server.answer_with([&](const seen_command& command) -> fake_answer {
            switch (role_of(command)) {
            case role::load: return {.bytes = bulk(std::string(40, 'a'))};
            case role::block: return {.bytes = one.to_block};
            case role::acquire: return {.bytes = ++asked == 1 ? busy : one.to_acquire};
            case role::release: return {.bytes = ":0\r\n"};
            default: return {.bytes = "-ERR unknown command\r\n"};
            }
        });
        const client caller{server.url() + "?command_timeout=1s"};
        const stopwatch since_start;
        std::optional<guard> held;
        try {
            held = GetParam().make(caller).try_acquire_for(300ms);
        } catch (const error& failure) {
            EXPECT_EQ(failure.reason(), errc::protocol) << failure.what();
            EXPECT_TRUE(failure.in_doubt() ||
                        server.commands(command_match{[](const auto& c) { return role_of(c) == role::release; }}) > 1);
        }
        EXPECT_FALSE(held);
        EXPECT_LT(since_start.elapsed(), 2s);
    }
}

}  // namespace
}  // namespace tranca::testing
