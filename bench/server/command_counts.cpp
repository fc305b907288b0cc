#include "server/command_counts.hpp"

#include <algorithm>
#include <charconv>

namespace tranca::bench {

// Lines like "cmdstat_client|id:calls=3,usec=7,usec_per_call=2.33".
command_counts::command_counts(std::string_view info) {
    constexpr std::string_view label = "cmdstat_", count = ":calls=";
    for (auto at = info.find(label); at != std::string_view::npos; at = info.find(label, at)) {
        at += label.size();
        const auto name_end = info.find_first_of(":|", at);
        const auto count_begin = info.find(count, at);
        if (count_begin == std::string_view::npos) return;
        std::uint64_t calls = 0;
        std::from_chars(info.data() + count_begin + count.size(), info.data() + info.size(), calls);
        calls_[std::string(info.substr(at, name_end - at))] += calls;
    }
}

std::uint64_t command_counts::since(const command_counts& before,
                                    std::initializer_list<std::string_view> left_out) const {
    std::uint64_t sum = 0;
    for (const auto& [name, calls] : calls_) {
        if (name == "info" || std::find(left_out.begin(), left_out.end(), name) != left_out.end()) continue;
        const auto earlier = before.calls_.find(name);
        sum += calls - (earlier == before.calls_.end() ? 0 : earlier->second);
    }
    return sum;
}

}  // namespace tranca::bench
