// What the fuzz targets share: a rule that does not hold ends the program, with what is wrong.
//
//     require(hash_slot(helper) == hash_slot(main), "a helper key lies in another slot");
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <tranca/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tranca::fuzz {

inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "a rule is broken: %s\n", what);
    std::abort();
}

/// Of all inputs; told at the end of the program, beside the statistics of libFuzzer.
class byte_count {
public:
    void add(std::size_t size) { sum_ += size; }
    ~byte_count() { std::fprintf(stderr, "stat::bytes: %llu\n", sum_); }

private:
    unsigned long long sum_{0};
};

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    static byte_count all;
    all.add(size);
    return {reinterpret_cast<const char*>(data), size};
}

/// What `body` threw may be one of these, and nothing else.
template <class Body>
bool succeeds(Body&& body, errc one, errc other) {
    try {
        body();
        return true;
    } catch (const error& failure) {
        if (failure.reason() != one && failure.reason() != other) std::fprintf(stderr, "threw: %s\n", failure.what());
        require(failure.reason() == one || failure.reason() == other, "a failure is of no kind that its header names");
        return false;
    }
}

}  // namespace tranca::fuzz
