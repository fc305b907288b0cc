// A grant that has to be on a disk: what each answer of WAITAOF means, and that a server which cannot leaves nothing held.
#include <gmock/gmock.h>

#include <string>

#include <tranca/mutex.hpp>

#include "support/deadline.hpp"
#include "support/fake_server.hpp"
#include "support/replica_pair.hpp"
#include "thrown_by.hpp"

namespace tranca::on_disk_test {
namespace {

using testing::after_handshake;
using testing::eventually;
using testing::fake_answer;
using testing::fake_server;
using ::testing::HasSubstr;
using testing::named;
using testing::replica_pair;
using testing::seen_command;
using testing::text_like;
using testing::thrown_by;
using namespace std::chrono_literals;

[[nodiscard]] mutex_options on_disk(std::int64_t replicas) {
    return {.lease = {.ttl = 30s, .renew_every = 0ms},
            .fencing = fencing::off,
            .waiters = waiters::none,
            .replicas = {.count = replicas, .within = 10s, .on_disk = true}};
}

// Grants whatever is asked for, by the plain commands of Redis 8.4, and says of the disks what it is told to.
class server_with_disk {
public:
    explicit server_with_disk(std::string answer)
        : fake(after_handshake([answer = std::move(answer)](const seen_command& command) {
              static const auto asks_docs = text_like("COMMAND DOCS");
              static const auto asks_info = text_like("COMMAND INFO");
              if (asks_docs(command)) return fake_answer{.bytes = "*1\r\n$27\r\nNX and GET may be together.\r\n"};
              if (asks_info(command)) return fake_answer{.bytes = "*2\r\n*1\r\n$5\r\ndelex\r\n$-1\r\n"};
              if (named("SET")(command)) return fake_answer{.bytes = "$-1\r\n"};  // NX GET: there was nothing before
              if (named("WAITAOF")(command)) return fake_answer{.bytes = answer};
              return fake_answer{.bytes = ":1\r\n"};
          })) {}

    /// How often the script that releases was sent.
    [[nodiscard]] std::size_t given_back() { return fake.commands(named("EVAL")) + fake.commands(named("EVALSHA")); }

    fake_server fake;
};

TEST(OnDisk, IsWhatTheServerAndItsReplicasSay) {
    server_with_disk server{"*2\r\n:1\r\n:2\r\n"};
    const client redis{server.fake.url()};
    const auto held = mutex{redis, "thing", on_disk(2)}.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->replicas(), 2);
    EXPECT_EQ(held->level(), grant_level::replicas);
    EXPECT_EQ(server.fake.commands(text_like("^WAITAOF 1 2 10000$")), 1U);
    EXPECT_EQ(server.fake.commands(named("WAIT")), 0U);
}

TEST(OnDisk, OfTheServerAloneNeedsNoReplica) {
    server_with_disk server{"*2\r\n:1\r\n:0\r\n"};
    const client redis{server.fake.url()};
    const auto held = mutex{redis, "thing", on_disk(0)}.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->level(), grant_level::one_server);
    EXPECT_EQ(server.fake.commands(text_like("^WAITAOF 1 0 10000$")), 1U);
}

TEST(OnDisk, OfTooFewIsNoGrant) {
    for (const auto& [answer, text] : {std::pair{"*2\r\n:0\r\n:1\r\n", "not on the server's disk"},
                                       std::pair{"*2\r\n:1\r\n:0\r\n", "0 of 1 replicas"}}) {
        server_with_disk server{answer};
        const client redis{server.fake.url()};
        const mutex lock{redis, "thing", on_disk(1)};
        const auto failure = thrown_by([&] { static_cast<void>(lock.try_acquire()); });
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::too_few_replicas);
        EXPECT_FALSE(failure->in_doubt());
        EXPECT_THAT(failure->what(), HasSubstr(text));
        EXPECT_EQ(server.given_back(), 1U);
    }
}

// No append-only file here; before Redis 7.2 no WAITAOF either.
TEST(OnDisk, IsRefusedByAServerThatCannot) {
    replica_pair pair;
    const client redis{pair.url()};
    const mutex lock{redis, "thing", on_disk(1)};
    const auto expect_refusal = [&](auto acquire) {
        const auto failure = thrown_by(acquire);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::server) << failure->what();
        EXPECT_THAT(failure->what(), HasSubstr("WAITAOF"));
        EXPECT_FALSE(failure->in_doubt());
        EXPECT_EQ(pair.master().raw().exists("lock:thing"), 0);
    };
    expect_refusal([&] { static_cast<void>(lock.try_acquire()); });
    expect_refusal([&] { static_cast<void>(lock.try_acquire_for(10s)); });
}

TEST(OnDisk, IsHadFromRealServers) {
    replica_pair pair;
    if (pair.master().must({"COMMAND", "INFO", "WAITAOF"})[0].items.empty())
        GTEST_SKIP() << "the server has no WAITAOF";
    for (auto* const server : {&pair.master(), &pair.replica()})
        server->must({"CONFIG", "SET", "appendonly", "yes"});
    const client redis{pair.url()};
    const mutex lock{redis, "thing", on_disk(1)};
    const auto held = lock.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->replicas(), 1);
    pair.replica().kill_hard();
    pair.replica().start_again({"--appendonly", "yes"});
    EXPECT_EQ(pair.replica().raw().exists("lock:thing"), 1);
}

}  // namespace
}  // namespace tranca::on_disk_test
