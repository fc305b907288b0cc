// Who is asked for the master, in which order, for how long, and what is told when there is none.
#include <thread>
#include <vector>

#include "sentinel/sentinel_fixture.hpp"
#include "support/child_process.hpp"
#include "support/deaf_listener.hpp"
#include "support/fake_server.hpp"
#include "support/socket.hpp"

namespace tranca::sentinel_test {
namespace {

using ::testing::AllOf;
using testing::fake_server;
using ::testing::HasSubstr;
using ::testing::Not;

sentinel_endpoint asking(const std::vector<std::uint16_t>& ports) {
    sentinel_endpoint made;
    for (const auto port : ports)
        made.sentinels.push_back({"127.0.0.1", port});
    made.master_name = sentinel_set::name;
    return made;
}

using Finding = sentinel_fixture;

TEST_F(Finding, LeadsToTheMaster) {
    client redis{url};
    EXPECT_TRUE(redis.server().host.empty());
    EXPECT_EQ(redis.command("ROLE")[0].text(), "master");
    EXPECT_EQ(redis.server().port, set.master_port());
    auto held = mutex{redis, "thing"}.acquire();
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(Finding, KeepsTheDatabase) {
    client redis{set.url() + "/3"};
    redis.command("SET", "here", "1");
    EXPECT_EQ(set.master().must({"EVAL", "redis.call('SELECT', 3) return redis.call('EXISTS', 'here')", "0"}), 1);
}

TEST_F(Finding, AsksTheNextWhenOneIsDeadAndThenThatOneFirst) {
    fake_server answers{testing::always(naming(set.master_port()))};
    fake_server silent{testing::never_answering()};
    auto where = asking({silent.where().port, testing::free_port(), answers.where().port});
    where.sentinel_timeout = 200ms;
    where.server.command_timeout = 300ms;
    client redis{where};
    const stopwatch since_start;
    redis.command("PING");
    EXPECT_GE(since_start.elapsed(), 200ms);
    EXPECT_EQ(silent.connections_seen(), 1u);
    // A command that gets no answer is reason to ask again: the one that answered.
    EXPECT_EQ(thrown_by([&] { redis.command("BLPOP", "nothing", "1"); })->reason(), errc::timeout);
    EXPECT_EQ(redis.command("PING").text(), "PONG");
    EXPECT_EQ(answers.connections_seen(), 2u);
    EXPECT_EQ(silent.connections_seen(), 1u);
}

TEST_F(Finding, PassesOverASentinelThatIsBehind) {
    const auto master = set.master_port();
    std::uint16_t replica = 0;
    for (std::size_t i = 0; i < sentinel_set::size; ++i)
        if (set.server(i).port() != master) replica = set.server(i).port();
    fake_server behind{testing::always(naming(replica))};
    fake_server knows{testing::always(naming(master))};
    client redis{asking({behind.where().port, knows.where().port})};
    EXPECT_EQ(redis.command("ROLE")[0].text(), "master");
    EXPECT_EQ(redis.server().port, master);

    client misled{asking({behind.where().port})};
    const auto failure = thrown_by([&] { misled.command("PING"); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::connect_failed);
    EXPECT_THAT(failure->what(), AllOf(HasSubstr(std::to_string(replica)), HasSubstr("slave")));
}

TEST_F(Finding, TakesNonsenseForNoAnswer) {
    fake_server knows{testing::always(naming(set.master_port()))};
    for (const auto* nonsense :
         {"+OK\r\n", "*0\r\n", "*2\r\n$1\r\nh\r\n$1\r\nx\r\n", "*2\r\n$1\r\nh\r\n$5\r\n99999\r\n",
          "*2\r\n$0\r\n\r\n$1\r\n1\r\n", ":1\r\n", "-IDONTKNOW I have not enough information\r\n", "rubbish\r\n"}) {
        fake_server confused{testing::always(nonsense)};
        client redis{asking({confused.where().port, knows.where().port})};
        EXPECT_EQ(redis.command("PING").text(), "PONG") << nonsense;
    }
}

TEST_F(Finding, OfAnUnknownNameFailsForGood) {
    client redis{sentinel_endpoint{.sentinels = asking({set.sentinel_port(0), set.sentinel_port(1)}).sentinels,
                                   .master_name = "nobody"}};
    EXPECT_EQ(thrown_by([&] { redis.command("PING"); })->reason(), errc::unknown_master);
    const mutex lock{redis, "thing"};
    const stopwatch since_start;
    const auto failure = thrown_by([&] { static_cast<void>(lock.try_acquire_for(30s)); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::unknown_master);
    EXPECT_THAT(failure->what(), HasSubstr("nobody"));
    EXPECT_LT(since_start.elapsed(), 10s);
}

TEST_F(Finding, WithAllSentinelsDeadNamesThemAndNoPassword) {
    const auto one = testing::free_port();
    const auto two = testing::free_port();
    auto where = asking({one, two});
    where.password = "hunter2";
    where.server.password = "hunter3";
    client redis{where};
    const mutex lock{redis, "thing"};
    // Also without a deadline: this client has never reached anything.
    for (const auto& body : {std::function<void()>{[&] { redis.command("PING"); }},
                             std::function<void()>{[&] { static_cast<void>(lock.acquire()); }},
                             std::function<void()>{[&] { static_cast<void>(lock.try_acquire()); }},
                             std::function<void()>{[&] { static_cast<void>(lock.try_acquire_for(30ms)); }}}) {
        const auto failure = thrown_by(body);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::connect_failed);
        EXPECT_FALSE(failure->in_doubt());
        EXPECT_THAT(failure->what(), AllOf(HasSubstr(std::to_string(one)), HasSubstr(std::to_string(two)),
                                           HasSubstr(std::string{sentinel_set::name}), Not(HasSubstr("hunter"))));
    }
}

TEST_F(Finding, BoundsADeafSentinelAndAFrozenMaster) {
    const testing::deaf_listener deaf;
    fake_server frozen{testing::never_answering()};
    fake_server misled{testing::always(naming(frozen.where().port))};
    fake_server too{testing::always(naming(frozen.where().port))};
    auto where = asking({deaf.where().port, misled.where().port, too.where().port});
    where.sentinel_timeout = 100ms;
    where.server.connect_timeout = 200ms;
    client redis{where};
    const stopwatch since_start;
    EXPECT_EQ(thrown_by([&] { redis.command("PING"); })->reason(), errc::connect_failed);
    EXPECT_LT(since_start.elapsed(), 2s);
    EXPECT_EQ(frozen.connections_seen(), 1u);  // the same address is not tried twice
}

TEST_F(Finding, IsDoneByOneForAll) {
    const auto before = set.sentinel_connections_received();
    client redis{url};
    std::vector<std::jthread> crew;
    for (int i = 0; i < 16; ++i)
        crew.emplace_back([&] { redis.command("PING"); });
    crew.clear();
    // One question, and at most one more for every connection of the counting itself.
    EXPECT_LE(set.sentinel_connections_received() - before, 1 + 2 * 3);
}

TEST_F(Finding, InVainIsNoStorm) {
    std::vector<std::unique_ptr<fake_server>> sentinels;
    sentinel_endpoint where;
    for (int i = 0; i < 3; ++i) {
        sentinels.push_back(std::make_unique<fake_server>(testing::always_error("IDONTKNOW yet")));
        where.sentinels.push_back({"127.0.0.1", sentinels.back()->where().port});
    }
    where.master_name = "m";
    client redis{where};
    std::vector<std::jthread> crew;
    for (int i = 0; i < 8; ++i)
        crew.emplace_back([&, i] {
            const mutex lock{redis, "thing" + std::to_string(i)};
            EXPECT_EQ(thrown_by([&] { static_cast<void>(lock.try_acquire_for(1s)); })->reason(), errc::connect_failed);
        });
    crew.clear();
    EXPECT_LE(sentinels[0]->connections_seen(), 40u);  // one in 50 ms, and some time to end
    EXPECT_GE(sentinels[0]->connections_seen(), 2u);
}

// Whatever another thread of the parent was doing at that moment.
TEST_F(Finding, IsDoneAnewByAChild) {
    auto where = asking({set.sentinel_port(0), set.sentinel_port(1)});
    where.check_every = 1ms;
    client redis{where};
    std::jthread busy{[&](const std::stop_token& stop) {
        while (!stop.stop_requested())
            redis.command("PING");
    }};
    for (int i = 0; i < 20; ++i) {
        testing::child_process child{[&] {
            EXPECT_TRUE(redis.server().host.empty());
            EXPECT_TRUE(mutex(redis, "thing").try_acquire());
        }};
        ASSERT_EQ(child.wait(20s), testing::exited(0));
    }
}

// The address may begin to answer only while somebody waits.
TEST_F(Finding, IsTriedAgainUntilTheDeadline) {
    fake_server sentinel{testing::always_error("IDONTKNOW yet")};
    client redis{asking({sentinel.where().port})};
    const mutex lock{redis, "thing"};
    std::optional<guard> held;
    std::jthread waiter{[&] { held = lock.try_acquire_for(30s); }};
    EXPECT_TRUE(eventually(10s, [&] { return sentinel.connections_seen() >= 3; }));
    sentinel.answer_with(testing::always(naming(set.master_port())));
    waiter.join();
    EXPECT_TRUE(held);
}

TEST(FindingWithPasswords, GivesEachItsOwn) {
    sentinel_set guarded{{.server_password = "server-secret", .sentinel_password = "sentinel-secret"}};
    client redis{guarded.url(":server-secret@") + "?sentinel_password=sentinel-secret"};
    EXPECT_EQ(redis.command("ROLE")[0].text(), "master");
    client no_sentinel{guarded.url(":server-secret@")};
    EXPECT_EQ(thrown_by([&] { no_sentinel.command("PING"); })->reason(), errc::authentication);
    client no_server{guarded.url(":wrong@") + "?sentinel_password=sentinel-secret"};
    const auto failure = thrown_by([&] { no_server.command("PING"); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::authentication);
    EXPECT_THAT(failure->what(), Not(HasSubstr("secret")));
}

// An account that may not ask for the role is taken at its sentinels' word.
TEST_F(Finding, WorksForAnAccountThatMayNotAskForTheRole) {
    for (std::size_t i = 0; i < sentinel_set::size; ++i)
        set.server(i).must({"ACL", "SETUSER", "narrow", "on", ">pw", "~*", "+@all", "-role"});
    client redis{set.url("narrow:pw@")};
    EXPECT_TRUE(mutex(redis, "thing").try_acquire());
}

}  // namespace
}  // namespace tranca::sentinel_test
