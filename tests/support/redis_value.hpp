// redis_value: one reply of Redis as a plain owned value.
//
//     const redis_value value = raw.command({"HGET", "h", "f"});
//     EXPECT_EQ(value, "text");                  // string or status with these bytes
//     EXPECT_TRUE(value.is_error("WRONGTYPE"));  // error whose first word is this
//
// Compares with integers, texts and nullptr (nil); prints itself in GoogleTest messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tranca::testing {

struct redis_value {
    enum class type { nil, integer, string, status, error, array };

    type kind{type::nil};
    std::int64_t integer{0};
    std::string text;                // of a string, status or error
    std::vector<redis_value> items;  // of an array

    [[nodiscard]] bool is_nil() const { return kind == type::nil; }
    [[nodiscard]] bool is_text() const { return kind == type::string || kind == type::status; }
    [[nodiscard]] bool is_error() const { return kind == type::error; }
    [[nodiscard]] bool is_error(std::string_view first_word) const {
        const std::string_view all{text};
        return is_error() && all.substr(0, all.find(' ')) == first_word;
    }
    [[nodiscard]] bool is_ok() const { return kind == type::status && text == "OK"; }

    [[nodiscard]] std::size_t size() const { return items.size(); }
    [[nodiscard]] const redis_value& operator[](std::size_t index) const { return items.at(index); }

    friend bool operator==(const redis_value&, const redis_value&) = default;
    friend bool operator==(const redis_value& value, std::int64_t number) {
        return value.kind == type::integer && value.integer == number;
    }
    friend bool operator==(const redis_value& value, int number) { return value == std::int64_t{number}; }
    friend bool operator==(const redis_value& value, std::string_view bytes) {
        return value.is_text() && value.text == bytes;
    }
    friend bool operator==(const redis_value& value, const char* bytes) { return value == std::string_view{bytes}; }
    friend bool operator==(const redis_value& value, std::nullptr_t) { return value.is_nil(); }
    friend std::ostream& operator<<(std::ostream& out, const redis_value& value);
};

}  // namespace tranca::testing
