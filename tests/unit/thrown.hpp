// thrown: the error a piece of code throws, to be looked at.
//
//     const auto failure = thrown_by([] { endpoint::parse("http://x"); });
//     EXPECT_EQ(failure.code(), errc::invalid_url);
//
// Anything but a tranca::error is a test failure, and so is nothing.
#pragma once

#include <gtest/gtest.h>

#include <exception>

#include <tranca/error.hpp>

namespace tranca::testing {

template <class Code>
[[nodiscard]] error thrown_by(Code&& code) {
    try {
        static_cast<void>(code());
    } catch (const error& failure) {
        return failure;
    } catch (const std::exception& other) {
        ADD_FAILURE() << "threw something else: " << other.what();
        return error{errc{}, other.what()};
    }
    ADD_FAILURE() << "threw nothing";
    return error{errc{}, "nothing was thrown"};
}

}  // namespace tranca::testing
