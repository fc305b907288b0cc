// contract: the base of every test that runs over all models.
//
//     using Exclusion = contract;
//     TEST_P(Exclusion, KeepsASecondClientOut) { auto held = make().try_acquire(); ... }
//     OVER_EVERY_MODEL(Exclusion);
//
// Gives an empty server, a client whose events are kept, and the model's view of the server for the name "thing".
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tranca/tranca.hpp>

#include "contract/models.hpp"
#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"
#include "thrown_by.hpp"

namespace tranca::contract {

using testing::eventually;
using testing::stopwatch;
using testing::throughout;
using testing::thrown_by;
using namespace std::chrono_literals;

/// The events a client told of.
class event_log {
public:
    [[nodiscard]] client_options options() {
        client_options made;
        made.on_event = [this](const event& told) {
            const std::lock_guard lock{mutex_};
            seen_.push_back({told.what, std::string{told.key}, std::string{told.detail}});
        };
        return made;
    }

    [[nodiscard]] std::ptrdiff_t count(event::kind kind) const {
        const std::lock_guard lock{mutex_};
        return std::ranges::count(seen_, kind, &seen::what);
    }
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock{mutex_};
        return seen_.size();
    }
    /// All of them in their order: "release_expired lock:thing: why; "
    [[nodiscard]] std::string text() const {
        const std::lock_guard lock{mutex_};
        std::string all;
        for (const auto& one : seen_)
            all += std::string{to_string(one.what)} + " " + one.key + ": " + one.detail + "; ";
        return all;
    }

private:
    struct seen {
        event::kind what;
        std::string key;
        std::string detail;
    };

    mutable std::mutex mutex_;
    std::vector<seen> seen_;
};

/// Did `body` fail for this reason?
[[nodiscard]] inline ::testing::AssertionResult fails_with(errc reason, const std::function<void()>& body) {
    const auto failure = thrown_by(body);
    if (!failure) return ::testing::AssertionFailure() << "nothing was thrown";
    if (failure->reason() == reason) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "threw instead: " << failure->what();
}

class contract : public testing::redis_fixture, public ::testing::WithParamInterface<model> {
protected:
    [[nodiscard]] any_primitive make(const wish& how = {}) const { return of.make(redis, how); }
    [[nodiscard]] any_primitive make_on(const client& other, const wish& how = {}) const { return of.make(other, how); }

    /// One that a holder of it keeps out: another of its kind, or for readers a writer.
    [[nodiscard]] any_primitive rival(const wish& how = {}) const { return of.make_rival(redis, how); }
    [[nodiscard]] any_primitive rival_on(const client& other, const wish& how = {}) const {
        return of.make_rival(other, how);
    }

    /// A second client, as another process would have.
    [[nodiscard]] client another_client(const std::string& query = "") const { return client{server.url() + query}; }

    // The server's view of "thing".
    [[nodiscard]] std::int64_t holders() { return of.holders(raw, name); }
    [[nodiscard]] std::string owner() { return of.owner(raw, name); }
    [[nodiscard]] bool is_foreign() { return holders() == 1 && owner() == "foreign"; }
    void occupy() { of.occupy(raw, name); }
    void vacate() { of.vacate(raw, name); }
    void let_lapse() { of.let_lapse(raw, name); }
    [[nodiscard]] std::int64_t milliseconds_left(milliseconds ttl) { return of.milliseconds_left(raw, name, ttl); }
    [[nodiscard]] std::int64_t attempts() { return raw.calls(of.attempt_command); }

    /// Waits until an attempt was made in vain, on a connection of its own: for another thread than the test's.
    [[nodiscard]] bool wait_for_a_refusal() {
        auto own = server.raw();
        return eventually(10s, [&] { return own.calls(of.refusal_command) >= 1; });
    }

    /// The keys, but for those that a header says may stay.
    [[nodiscard]] std::vector<std::string> keys_left() {
        auto keys = raw.keys();
        for (const auto& lasting : of.lasting_keys(name))
            std::erase(keys, lasting);
        return keys;
    }

    /// After this a client has asked for its rights and sent its scripts: what follows is what an operation costs.
    void warm_up(const any_primitive& primitive) {
        ASSERT_TRUE(primitive.try_acquire());
        server.must({"CONFIG", "RESETSTAT"});
    }

    const model& of{GetParam()};
    const std::string name{"thing"};
    event_log events;
    client redis{server.url(), events.options()};
};

[[nodiscard]] inline std::vector<model> models_where(bool model::*property) {
    std::vector<model> chosen;
    std::ranges::copy_if(models(), std::back_inserter(chosen), [&](const model& one) { return one.*property; });
    return chosen;
}

#define OVER_EVERY_MODEL(suite) \
    INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn(tranca::contract::models()), tranca::contract::title_of)
#define OVER_MODELS_WHERE(property, suite)                                                                            \
    INSTANTIATE_TEST_SUITE_P(, suite,                                                                                 \
                             ::testing::ValuesIn(tranca::contract::models_where(&tranca::contract::model::property)), \
                             tranca::contract::title_of)

}  // namespace tranca::contract
