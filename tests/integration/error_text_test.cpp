// What errors say: the operation, the key and the server, and never a password or a token (case L04).
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/scripts.hpp>

#include "support/deaf_listener.hpp"
#include "support/fake_server.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "support/tcp_gate.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string password = "pass-that-nobody-may-see";

// Every failure below is of a server with this password, and of a command with a token.
class ErrorText : public ::testing::Test {
protected:
    // One command of each shape, as primitives send them; with what is expected to be named.
    struct operation {
        std::string name;
        std::function<void(client&)> run;
    };

    const token mine{token::generate()};
    const std::vector<operation> operations{
        {"SET \"lock:a\"", [this](client& redis) { redis.command("SET", "lock:a", mine, "NX", "PX", 1'000); }},
        {"(EVALSHA|SCRIPT|EVAL) \"?(lock:a)?",
         [this](client& redis) { run(*redis.pool(), scripts::release_lock().call({"lock:a"}, mine)); }},
        {"ZADD \"lock:a\"",
         [this](client& redis) {
             static_cast<void>(redis.pool()->borrow()->transaction(request{"ZADD", "lock:a", 1, mine}));
         }},
        {"GET \"lock:a\"", [](client& redis) { redis.command("GET", "lock:a"); }}};

    // Fails each operation on a client of this URL and looks at what is said.
    void expect_clean(const std::string& url, const std::string& server) {
        for (const auto& each : operations) {
            client redis{url};
            const auto failure = thrown_by([&] { each.run(redis); });
            const std::string said = failure.what();
            EXPECT_THAT(said, Not(HasSubstr(password)));
            EXPECT_THAT(said, Not(HasSubstr(mine.text())));
            EXPECT_THAT(said, ContainsRegex("(" + each.name + "|AUTH|connecting to|starting TLS with)"));
            EXPECT_THAT(said, HasSubstr(server));
            EXPECT_THAT(said, Not(HasSubstr("\n")));
        }
    }

    // With the password of this file.
    [[nodiscard]] static std::string with_password(const std::string& url, const std::string& query = "") {
        auto result = url;
        return result.insert(result.find("://") + 3, ":" + password + "@") + query;
    }
};

class ErrorTextOfARealServer : public ErrorText {
protected:
    redis_server server{redis_server_options{.password = password}};

    void expect_clean_here(const std::string& query = "") { expect_clean(server.url() + query, server.tcp().text()); }
};

TEST_F(ErrorTextOfARealServer, IsCleanOfWrongTypes) {
    server.must({"HSET", "lock:a", "f", "v"});
    for (const auto& each : operations) {
        if (each.name.starts_with("SET")) continue;  // SET replaces, or finds it taken
        client redis{server.url()};
        const auto failure = thrown_by([&] { each.run(redis); });
        EXPECT_THAT(failure.what(), Not(HasSubstr(mine.text())));
    }
}

TEST_F(ErrorTextOfARealServer, IsCleanOfWhatAServerRefuses) {
    {
        const fault full = out_of_memory(server);
        server.must({"CONFIG", "SET", "replica-serve-stale-data", "no"});
        const fault replica = demoted(server);
        expect_clean_here();
    }
    const fault busy = busy_script(server);
    expect_clean_here();
}

TEST_F(ErrorTextOfARealServer, IsCleanOfALoadingServer) {
    const fault slow = loading(server);
    expect_clean_here();
}

TEST_F(ErrorTextOfARealServer, IsCleanOfAFrozenServer) {
    const fault ice = frozen(server);
    expect_clean_here("?command_timeout=20ms&connect_timeout=20ms");
    expect_clean_here("/3?command_timeout=20ms&connect_timeout=20ms&client_name=x");
}

TEST_F(ErrorTextOfARealServer, IsCleanOfAServerThatIsGone) {
    const fault gone = unreachable(server);
    expect_clean_here();
}

TEST_F(ErrorTextOfARealServer, IsCleanOfAWrongPassword) {
    server.set_password("another");
    const auto url = with_password(server.tcp().url());
    expect_clean(url, server.tcp().text());
    expect_clean(url.substr(0, 8) + "nobody" + url.substr(8), server.tcp().text());
}

TEST_F(ErrorTextOfARealServer, IsCleanOfMissingRights) {
    server.must({"ACL", "SETUSER", "limited", "on", ">" + password, "~app:*", "+auth"});
    auto url = with_password(server.tcp().url());
    expect_clean(url.insert(8, "limited"), server.tcp().text());
}

TEST_F(ErrorTextOfARealServer, IsCleanOfAFullServer) {
    const fault full = too_many_clients(server);
    expect_clean_here();
}

// The server repeats the arguments of a command it does not know.
TEST_F(ErrorTextOfARealServer, IsCleanOfArgumentsThatTheServerRepeats) {
    client redis{server.url()};
    for (const auto& command : {request{"NONSENSE", "lock:a", mine, password}, request{"NONSENSE", mine},
                                request{"CLIENT", "NONSENSE", password, mine}, request{"EVAL", "no Lua", 0, mine}}) {
        const std::string said = thrown_by([&] { return redis.run(command); }).what();
        EXPECT_EQ(said.find(password), std::string::npos) << said;
        if (command.describe().find(mine.text()) == std::string::npos) {
            EXPECT_EQ(said.find(mine.text()), std::string::npos) << said;
        }
    }
}

TEST_F(ErrorText, IsCleanOfPeersThatAreNoRedis) {
    for (const auto& answer :
         {garbage(), closing(ending::close), closing(ending::reset), truncated_reply(), never_answering(),
          nested_arrays(100), bulk_header("-7"), always_error("ERR anything")}) {
        const fake_server server{answer};
        expect_clean(with_password(server.url(), "?command_timeout=20ms&connect_timeout=50ms"), server.where().text());
        const fake_server polite{after_handshake(answer)};
        expect_clean(with_password(polite.url(), "?command_timeout=20ms&connect_timeout=50ms"), polite.where().text());
    }
}

TEST_F(ErrorText, IsCleanOfPeersThatCannotBeReached) {
    const deaf_listener deaf;
    expect_clean(with_password(deaf.url(), "?connect_timeout=20ms"), deaf.where().text());
    const auto nobody = address::tcp(free_port());
    expect_clean(with_password(nobody.url()), nobody.text());
    expect_clean(with_password("unix:///nowhere/redis.sock"), "unix:///nowhere/redis.sock");
    expect_clean(with_password("redis://no-such-host.invalid"), "no-such-host.invalid");
    expect_clean(with_password("rediss://" + nobody.text()), nobody.text());
}

TEST_F(ErrorText, IsCleanOfATlsThatComesToNothing) {
    const fake_server plain{garbage()};
    expect_clean(with_password(plain.tls_url(), "?connect_timeout=200ms"), plain.where().text());
}

// A misbehaving proxy that echoes what it was sent.
TEST_F(ErrorText, IsShortWhateverTheServerSays) {
    const fake_server chatty{always_error("ERR " + std::string(1'000'000, 'x'))};
    client redis{chatty.url()};
    const std::string said = thrown_by([&] { return redis.command("GET", "lock:a"); }).what();
    EXPECT_LT(said.size(), 5'000U);
    const fake_server odd{always_error("ERR \x1b[31m\x01 red")};
    client other{odd.url()};
    EXPECT_EQ(std::string{thrown_by([&] { return other.command("GET", "lock:a"); }).what()}.find('\x1b'),
              std::string::npos);
}

}  // namespace
}  // namespace tranca::testing
