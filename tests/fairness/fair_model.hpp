// fair_model: the primitives that keep a line of waiters, as values for parameterised tests; each admits one.
//
//     INSTANTIATE_TEST_SUITE_P(Every, Line, ::testing::ValuesIn(fair_models()), title_of_fair);
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <tranca/tranca.hpp>

#include "contract/any_primitive.hpp"

namespace tranca::fairness_test {

using contract::any_primitive;
using namespace std::chrono_literals;

struct fair_model {
    std::string title;
    std::string main_key;
    std::function<any_primitive(const client&, milliseconds ttl, milliseconds waiter_lease)> make;

    [[nodiscard]] std::string queue_key() const { return "{" + main_key + "}:queue"; }
    friend std::ostream& operator<<(std::ostream& out, const fair_model& of) { return out << of.title; }
    [[nodiscard]] std::string seen_key(const std::string& token) const { return "{" + main_key + "}:seen:" + token; }
};

[[nodiscard]] inline std::vector<fair_model> fair_models() {
    return {
        {"mutex", "lock:thing",
         [](const client& redis, milliseconds ttl, milliseconds waiter_lease) {
             return any_primitive{mutex{
                 redis, "thing", {.lease = {.ttl = ttl}, .fairness = fairness::on, .waiter_lease = waiter_lease}}};
         }},
        {"semaphore", "semaphore:thing", [](const client& redis, milliseconds ttl, milliseconds waiter_lease) {
             return any_primitive{semaphore{
                 redis, "thing", 1, {.lease = {.ttl = ttl}, .fairness = fairness::on, .waiter_lease = waiter_lease}}};
         }}};
}

[[nodiscard]] inline std::string title_of_fair(const ::testing::TestParamInfo<fair_model>& info) {
    return info.param.title;
}

}  // namespace tranca::fairness_test
