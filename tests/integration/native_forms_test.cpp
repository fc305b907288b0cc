// One command instead of a script, where the server has it: on the server at hand, and on fakes of those that are not.
#include <gmock/gmock.h>

#include <string>

#include <tranca/mutex.hpp>

#include "support/fake_server.hpp"
#include "support/monitor_reader.hpp"
#include "support/redis_fixture.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

// A server of the future, told from others by what COMMAND answers.
class told_server {
public:
    told_server(std::string docs, std::string info, std::string denied = {})
        : fake(after_handshake([docs = std::move(docs), info = std::move(info),
                                denied = std::move(denied)](const seen_command& command) {
              if (command.arguments.at(0) == denied)
                  return fake_answer{.bytes = "-NOPERM no permissions to run it\r\n"};
              static const auto asks_docs = text_like("COMMAND DOCS");
              static const auto asks_info = text_like("COMMAND INFO");
              static const auto plain_set = named("SET");
              static const auto extends = text_like(" IFEQ .* PX ");
              if (asks_docs(command)) return fake_answer{.bytes = docs};
              if (asks_info(command)) return fake_answer{.bytes = info};
              if (extends(command)) return fake_answer{.bytes = "+OK\r\n"};
              if (plain_set(command)) return fake_answer{.bytes = "$-1\r\n"};  // NX GET: there was nothing before
              if (named("SCRIPT")(command)) return fake_answer{.bytes = "$40\r\n" + std::string(40, 'a') + "\r\n"};
              return fake_answer{.bytes = ":1\r\n"};
          })) {}

    fake_server fake;
};

std::string bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

const std::string docs_of_84 =
    "*3\r\n" + bulk("set") + bulk("Allowed the `NX` and `GET` options to be used together.") + bulk("IFEQ");

mutex_options only_tried() {
    return {.lease = {.renew_every = 0ms}, .fencing = fencing::off, .waiters = waiters::none};
}

TEST(NativeForms, OfRedis84AreUsedForEveryOperation) {
    told_server server{docs_of_84, "*2\r\n*1\r\n" + bulk("delex") + "$-1\r\n"};
    const client redis{server.fake.url()};
    auto held = mutex{redis, "a", only_tried()}.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_TRUE(held->extend());
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_EQ(server.fake.commands(text_like("^SET lock:a .* NX GET PX 10000$")), 1U);
    EXPECT_EQ(server.fake.commands(text_like("^SET lock:a (.*) IFEQ \\1 PX 10000$")), 1U);
    EXPECT_EQ(server.fake.commands(text_like("^DELEX lock:a IFEQ [0-9a-f]{32}\\|\\|")), 2U)
        << "the trial and the release";
    EXPECT_EQ(server.fake.commands(text_like("COMMAND DOCS")), 1U) << "asked once a connection";
}

TEST(NativeForms, OfValkey9AreUsedForARelease) {
    told_server server{docs_of_84, "*2\r\n$-1\r\n*1\r\n" + bulk("delifeq")};
    const client redis{server.fake.url()};
    auto held = mutex{redis, "a", only_tried()}.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_EQ(server.fake.commands(text_like("^DELIFEQ lock:a [0-9a-f]{32}\\|\\|")), 2U);
}

TEST(NativeForms, ThatTheAccountMayNotUseAreReplacedByTheirScript) {
    told_server server{docs_of_84, "*2\r\n*1\r\n" + bulk("delex") + "$-1\r\n", "DELEX"};
    const client redis{server.fake.url()};
    auto held = mutex{redis, "a", only_tried()}.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_EQ(server.fake.commands(named("DELEX")), 2U) << "the trial and the release";
    EXPECT_EQ(server.fake.commands(named("EVAL")), 2U);
}

TEST(NativeForms, AreNotTriedOnAServerThatDoesNotTellOfThem) {
    told_server server{"-ERR unknown subcommand\r\n", "*2\r\n$-1\r\n$-1\r\n"};
    const client redis{server.fake.url()};
    // The fake answers scripts with 1, which is no answer to an acquire: only what was sent matters here.
    EXPECT_THROW(static_cast<void>(mutex(redis, "a", only_tried()).try_acquire()), error);
    EXPECT_EQ(server.fake.commands(named("SET|DELEX|DELIFEQ")), 0U);
    EXPECT_GE(server.fake.commands(named("EVALSHA")), 1U);
}

class NativeFormsHere : public redis_fixture {};

TEST_F(NativeFormsHere, DoTheSameAsTheScripts) {
    const client redis{server.url()};
    const client other{server.url()};
    const mutex lock{redis, "a", only_tried()};
    for (int i = 0; i < 3; ++i) {
        auto held = lock.try_acquire();
        ASSERT_TRUE(held);
        EXPECT_FALSE(mutex(other, "a", only_tried()).try_acquire());
        raw.must({"PEXPIRE", "lock:a", "1000"});
        EXPECT_TRUE(held->extend());
        EXPECT_GT(raw.pttl("lock:a"), 5'000);
        EXPECT_EQ(held->release(), release_result::released);
        EXPECT_EQ(raw.exists("lock:a"), 0);
    }
}

TEST_F(NativeFormsHere, LeaveAnotherOwnersLockAlone) {
    const client redis{server.url()};
    auto held = mutex{redis, "a", only_tried()}.try_acquire();
    ASSERT_TRUE(held);
    raw.set("lock:a", "foreign");
    EXPECT_FALSE(held->extend());
    EXPECT_NE(held->release(), release_result::released);
    EXPECT_EQ(raw.get("lock:a"), "foreign");
}

TEST_F(NativeFormsHere, AcquireInOneCommandWithoutFencing) {
    const client redis{server.url()};
    const mutex lock{redis, "a", only_tried()};
    static_cast<void>(lock.try_acquire());
    const auto has_get = request{"COMMAND", "DOCS", "SET"};
    const auto docs = redis.pool()->borrow()->exchange(has_get);
    if (docs.is_error()) GTEST_SKIP() << "the server has no COMMAND DOCS";
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    const auto held = lock.try_acquire();
    ASSERT_TRUE(held);
    const auto sent = monitor.commands_since(mark);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].name(), "SET");
}

}  // namespace
}  // namespace tranca::testing
