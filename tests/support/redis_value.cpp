#include "support/redis_value.hpp"

namespace tranca::testing {

std::ostream& operator<<(std::ostream& out, const redis_value& value) {
    switch (value.kind) {
    case redis_value::type::nil: return out << "nil";
    case redis_value::type::integer: return out << value.integer;
    case redis_value::type::string: return out << '"' << value.text << '"';
    case redis_value::type::status: return out << '+' << value.text;
    case redis_value::type::error: return out << '-' << value.text;
    case redis_value::type::array: break;
    }
    out << '[';
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        out << (i == 0 ? "" : ", ") << value.items[i];
    }
    return out << ']';
}

}  // namespace tranca::testing
