// What an error reply of the server is taken for.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <tranca/error.hpp>

namespace tranca::testing {
namespace {

struct known_reply {
    std::string text;
    errc meaning;
};

void expect_all(const std::vector<known_reply>& replies) {
    for (const auto& [text, meaning] : replies)
        EXPECT_EQ(make_error_code(classify_error_reply(text)), make_error_code(meaning)) << text;
}

// Each as Redis 7.0.15 sends it.
TEST(ErrorReply, IsToldByItsFirstWord) {
    expect_all({
        {"NOAUTH Authentication required.", errc::authentication},
        {"WRONGPASS invalid username-password pair or user is disabled.", errc::authentication},
        {"DENIED Redis is running in protected mode because protected mode is enabled", errc::authentication},
        {"NOPERM this user has no permissions to run the 'set' command", errc::no_permission},
        {"NOPERM this user has no permissions to access one of the keys used as arguments", errc::no_permission},
        {"WRONGTYPE Operation against a key holding the wrong kind of value", errc::wrong_type},
        {"OOM command not allowed when used memory > 'maxmemory'.", errc::out_of_memory},
        {"READONLY You can't write against a read only replica.", errc::read_only},
        {"LOADING Redis is loading the dataset in memory", errc::loading},
        {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", errc::busy_script},
        {"TRYAGAIN Multiple keys request during rehashing of slot", errc::try_again},
        {"CLUSTERDOWN Hash slot not served", errc::cluster_down},
        {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", errc::master_down},
        {"NOREPLICAS Not enough good replicas to write.", errc::no_replicas},
        {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
         errc::misconf},
        {"MOVED 3999 127.0.0.1:6381", errc::moved},
        {"ASK 3999 127.0.0.1:6381", errc::ask},
        {"NOSCRIPT No matching script. Please use EVAL.", errc::no_script},
        {"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
         errc::unblocked},
    });
}

TEST(ErrorReply, IsToldByTheFirstWordAlone) {
    expect_all({{"READONLY", errc::read_only}, {"OOM", errc::out_of_memory}, {"MOVED", errc::moved}});
}

TEST(ErrorReply, OfTheGeneralKindIsToldByItsPhrase) {
    expect_all({
        {"ERR max number of clients reached", errc::max_clients},
        {"ERR max number of clients + cluster connections reached", errc::max_clients},
        {"ERR invalid password", errc::authentication},
        {"ERR AUTH <password> called without any password configured for the default user. Are you sure your "
         "configuration is correct?",
         errc::authentication},
        {"ERR Client sent AUTH, but no password is set", errc::authentication},
    });
}

TEST(ErrorReply, OfAnyOtherKindIsAServerError) {
    expect_all({
        {"ERR syntax error", errc::server},
        {"ERR value is not an integer or out of range", errc::server},
        {"CROSSSLOT Keys in request don't hash to the same slot", errc::server},
        {"EXECABORT Transaction discarded because of previous errors.", errc::server},
        {"NOTBUSY No scripts in execution right now.", errc::server},
        {"ERR", errc::server},
        {" ", errc::server},
        {"", errc::server},
    });
}

TEST(ErrorReply, WithAWordThatOnlyBeginsLikeAKnownOneIsAServerError) {
    expect_all({
        {"BUSYKEY Target key name already exists.", errc::server},
        {"BUSYGROUP Consumer Group name already exists", errc::server},
        {"ASKING is not for you", errc::server},
        {"READONLYISH", errc::server},
        {"busy doing nothing", errc::server},
    });
}

// What Redis 6.2 makes of a command that fails inside a script: it checks some itself (with a dash), and hands on what the
// command said (without one).
TEST(ErrorReply, FromInsideAScriptOfRedis6IsToldByTheWordBehindItsPrefix) {
    const std::string call = "ERR Error running script (call to f_83e03ec05d6a3b6fb48483accf5e594597b6058f): ";
    const std::string checked = call + "@user_script:2: @user_script: 2: -";
    const std::string handed_on = call + "@user_script:2: ";
    const auto meaning = [](const std::string& text) { return make_error_code(classify_error_reply(text)); };
    EXPECT_EQ(meaning(checked + "READONLY You can't write against a read only replica."), errc::read_only);
    EXPECT_EQ(meaning(checked + "OOM command not allowed when used memory > 'maxmemory'."), errc::out_of_memory);
    EXPECT_EQ(meaning(checked + "MISCONF Redis is configured to save RDB snapshots"), errc::misconf);
    EXPECT_EQ(meaning(handed_on + "WRONGTYPE Operation against a key holding the wrong kind of value"),
              errc::wrong_type);
    EXPECT_EQ(meaning(handed_on + "The user executing the script can't run this command or subcommand"),
              errc::no_permission);
    EXPECT_EQ(meaning("@user_script: 1: -READONLY You can't write against a read only replica."), errc::read_only);
}

TEST(ErrorReply, FromInsideAScriptOfRedis7IsToldByItsFirstWord) {
    const std::string place = " script: 8b2c77ae3a6a5b6e1a0ae0b2ca2d7c50ab8b2b9c, on @user_script:2.";
    const auto meaning = [&](const std::string& text) { return make_error_code(classify_error_reply(text + place)); };
    EXPECT_EQ(meaning("READONLY You can't write against a read only replica."), errc::read_only);
    EXPECT_EQ(meaning("OOM command not allowed when used memory > 'maxmemory'."), errc::out_of_memory);
    EXPECT_EQ(meaning("WRONGTYPE Operation against a key holding the wrong kind of value"), errc::wrong_type);
    EXPECT_EQ(meaning("ERR The user executing the script can't run this command or subcommand"), errc::no_permission);
    EXPECT_EQ(meaning("ERR The user executing the script can't access at least one of the keys mentioned in the "
                      "command arguments"),
              errc::no_permission);
}

TEST(ErrorReply, FromInsideAScriptOfRedis8OrValkey9IsToldByItsFirstWord) {
    for (const std::string place :
         {" script: 8b2c77ae3a6a5b6e1a0ae0b2ca2d7c50ab8b2b9c, on @user_script:2.", " script: on @user_script:1.", ""}) {
        expect_all({
            {"ERR ACL failure in script: User jo has no permissions to run the 'set' command" + place,
             errc::no_permission},
            {"ERR ACL failure in script: No permissions to access a key" + place, errc::no_permission},
            {"ERR ACL failure in script: No permissions to access a channel" + place, errc::no_permission},
            {"NOPERM No permissions to access database" + place, errc::no_permission},
            {"OOM command not allowed when used memory > 'maxmemory'." + place, errc::out_of_memory},
            {"ERR Unknown command called from script" + place, errc::server},
        });
    }
}

TEST(ErrorReply, FromInsideAScriptWithAnUnknownWordIsAServerError) {
    const std::string call = "ERR Error running script (call to f_83e03ec05d6a3b6fb48483accf5e594597b6058f): ";
    expect_all({
        {call + "@user_script:1: ERR value is not an integer or out of range", errc::server},
        {call + "@user_script:1: @user_script: 1: -BUSYGROUP Consumer Group name already exists", errc::server},
        {call + "@user_script:1: user_script:1: attempt to perform arithmetic on a nil value", errc::server},
    });
}

TEST(ErrorReply, OfATransactionGivenUpNamesTheReason) {
    expect_all({
        {"EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.",
         errc::out_of_memory},
        {"EXECABORT Transaction discarded because of: READONLY You can't write against a read only replica.",
         errc::read_only},
        {"EXECABORT Transaction discarded because of: NOREPLICAS Not enough good replicas to write.",
         errc::no_replicas},
    });
}

// The server repeats what it was sent; a name must not be taken for the server's own word.
TEST(ErrorReply, IsNotToldByWhatTheCallerSent) {
    expect_all({
        {"ERR unknown command 'x-ASK', with args beginning with: 'to-BUSY' ", errc::server},
        {"ERR unknown command '-OOM ', with args beginning with: ", errc::server},
    });
}

}  // namespace
}  // namespace tranca::testing
