// An account that may not do everything, and keys that hold something else.
#include "contract/contract.hpp"
#include "support/faults.hpp"

namespace tranca::contract {
namespace {

using testing::account;
using ::testing::HasSubstr;

class Rights : public contract {
protected:
    /// Such an account either gets everything done or is told so by the first attempt, which leaves nothing behind.
    void works_or_fails_early(const account& user, const std::string& lacking) {
        const client limited{user.url()};
        std::optional<guard> held;
        const auto failure = thrown_by([&] { held = make_on(limited).try_acquire(); });
        if (failure) {
            EXPECT_EQ(failure->reason(), errc::no_permission) << failure->what();
            EXPECT_FALSE(failure->temporary());
            EXPECT_EQ(std::string{failure->what()}.find(user.password()), std::string::npos);
        } else {
            ASSERT_TRUE(held) << lacking;
            EXPECT_EQ(held->release(), release_result::released) << "taken, and not given back without " << lacking;
        }
        EXPECT_THAT(keys_left(), ::testing::IsEmpty()) << lacking;
        raw.flush();
    }
};

TEST_P(Rights, WithoutScriptsAreToldAtOnceAndTakeNothing) {
    const auto user = testing::without_scripting(server);
    const client limited{user.url()};
    const auto failure = thrown_by([&] { static_cast<void>(make_on(limited).acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::no_permission);
    EXPECT_THAT(failure->what(), HasSubstr("NOPERM"));
    EXPECT_THAT(raw.keys(), ::testing::IsEmpty());
}

// Not DEL: the release script comes to it only when there is something to release.
TEST_P(Rights, WithoutAnyOneCommandAreEnoughOrToldAtOnce) {
    for (const std::string command :
         {"eval",        "evalsha",   "script",        "set",       "setnx", "get",   "pexpire",
          "ttl",         "multi",     "exec",          "zadd",      "zrem",  "zrank", "zremrangebyscore",
          "zinterstore", "incr",      "hset",          "hget",      "hdel",  "hmget", "zcard",
          "zscore",      "zrevrange", "zrangebyscore", "pexpireat", "hlen",  "exists"})
        works_or_fails_early(testing::without(server, {command}), command);
}

TEST_P(Rights, WithoutClientCommandsOrChannelsAreEnough) {
    for (const auto& user :
         {testing::without(server, {"client", "info", "hello"}), testing::without_channels(server)}) {
        const client limited{user.url()};
        auto held = make_on(limited).acquire();
        EXPECT_EQ(held.release(), release_result::released);
    }
}

TEST_P(Rights, ToTheMainKeyAloneAreEnoughOrToldAtOnce) {
    works_or_fails_early(testing::only_keys(server, of.key_of(name)), "other keys");
    works_or_fails_early(testing::only_keys(server, "elsewhere:*"), "its key");
}

// Every command a primitive needs is one it sends: an account with these and no other gets all done.
TEST_P(Rights, AreAllUsedThatAreDocumented) {
    const auto user = testing::rights(server, {"~*",
                                               "+evalsha",
                                               "+eval",
                                               "+script|load",
                                               "+set",
                                               "+setnx",
                                               "+get",
                                               "+del",
                                               "+pexpire",
                                               "+ttl",
                                               "+multi",
                                               "+exec",
                                               "+zadd",
                                               "+zrem",
                                               "+zrank",
                                               "+zremrangebyscore",
                                               "+zinterstore",
                                               "+incr",
                                               "+time",
                                               "+pttl",
                                               "+exists",
                                               "+llen",
                                               "+lpush",
                                               "+blpop",
                                               "+zcard",
                                               "+zscore",
                                               "+zrange",
                                               "+zrevrange",
                                               "+zrangebyscore",
                                               "+hget",
                                               "+hmget",
                                               "+hset",
                                               "+hdel",
                                               "+hlen",
                                               "+pexpireat"});
    const client limited{user.url()};
    testing::flush_scripts(server);
    auto held = make_on(limited).acquire();
    EXPECT_TRUE(held.extend());
    EXPECT_FALSE(rival_on(limited).try_acquire());
    EXPECT_EQ(held.release(), release_result::released);
}

OVER_EVERY_MODEL(Rights);

class ForeignKey : public contract {};

TEST_P(ForeignKey, OfAnotherTypeIsNeverTakenAndStaysAsItIs) {
    const auto key = of.key_of(name);
    testing::make_wrong_type(server, key);
    std::optional<guard> held;
    const stopwatch since_start;
    const auto failure = thrown_by([&] { held = make().try_acquire_for(30ms); });
    EXPECT_LT(since_start.elapsed(), 1s);
    EXPECT_FALSE(held);
    if (failure) {
        EXPECT_EQ(failure->reason(), errc::wrong_type);
        EXPECT_THAT(failure->what(), HasSubstr("\"" + key + "\""));
    }
    EXPECT_EQ(raw.must({"LLEN", key}), 1);
}

OVER_EVERY_MODEL(ForeignKey);

// A lock somebody made without a time is somebody's: only timeout_lock, whose book says so, gives it one.
TEST(KeyWithoutTtl, IsWaitedForAndLeftAsItIs) {
    auto& server = testing::fresh();
    auto raw = server.raw();
    client redis{server.url()};
    testing::make_without_ttl(server, "lock:thing");
    EXPECT_FALSE(ladder::naive_lock(redis, "thing").try_acquire_for(20ms));
    EXPECT_FALSE(ladder::px_lock(redis, "thing").try_acquire_for(20ms));
    EXPECT_EQ(raw.get("lock:thing"), "foreign");
    EXPECT_EQ(raw.pttl("lock:thing"), -1);
    EXPECT_FALSE(ladder::timeout_lock(redis, "thing", {.lease = {.ttl = 5s}}).try_acquire());
    EXPECT_EQ(raw.get("lock:thing"), "foreign");
    EXPECT_GT(raw.pttl("lock:thing"), 4'000);
    EXPECT_LE(raw.pttl("lock:thing"), 5'000);
}

// TTL answers 0 in the last half second of a lock: that one has a time, though the book's first printing renewed it.
TEST(KeyWithoutTtl, IsNotTakenForOneThatIsAboutToExpire) {
    auto& server = testing::fresh();
    auto raw = server.raw();
    client redis{server.url()};
    const ladder::timeout_lock lock{redis, "thing", {.lease = {.ttl = 60s}}};
    raw.set("lock:thing", "dead", 400ms);
    EXPECT_TRUE(lock.try_acquire_for(10s));
}

}  // namespace
}  // namespace tranca::contract
