// thrown_by: what a piece of code threw, if it was an error of the library; anything else passes.
//
//     const auto failure = thrown_by([&] { lock.acquire(); });
//     ASSERT_TRUE(failure);
#pragma once

#include <functional>
#include <optional>

#include <tranca/error.hpp>

namespace tranca::testing {

[[nodiscard]] inline std::optional<error> thrown_by(const std::function<void()>& body) {
    try {
        body();
    } catch (const error& failure) {
        return failure;
    }
    return std::nullopt;
}

}  // namespace tranca::testing
