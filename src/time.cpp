#include <tranca/time.hpp>

#include <string>

#include <fmt/format.h>

#include <tranca/error.hpp>

namespace tranca {

void require_positive(milliseconds value, std::string_view option) {
    if (value <= milliseconds::zero())
        throw error(errc::invalid_argument, fmt::format("{} ({} ms) must be longer than 0 ms", option, value.count()));
    if (value > longest_duration)
        throw error(errc::invalid_argument, fmt::format("{} ({} ms) must not be longer than {} ms (100 years)", option,
                                                        value.count(), longest_duration.count()));
}

void require_not_negative(milliseconds value, std::string_view option) {
    if (value < milliseconds::zero())
        throw error(errc::invalid_argument, fmt::format("{} ({} ms) must not be negative", option, value.count()));
}

void refuse_not_a_number(std::string_view option) {
    throw error(errc::invalid_argument, fmt::format("{} is not a number", option));
}

}  // namespace tranca
