#include <tranca/redirection.hpp>

#include "url_text.hpp"

namespace tranca {

namespace {

// "10.0.0.7:6381", ":6381", "::1:6381", "[::1]:6381": the port follows the last colon.
std::optional<cluster_endpoint::address> address_in(std::string_view text, const cluster_endpoint::address& said_by) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto port = whole_number<std::uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0) return std::nullopt;
    auto host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const bool unknown = host.empty() || host == "?";
    return cluster_endpoint::address{unknown ? said_by.host : std::string{host}, *port};
}

}  // namespace

std::optional<redirection> redirection_in(std::string_view error_text, const cluster_endpoint::address& said_by) {
    const auto word = take_until(error_text, " ");
    if (word != "MOVED" && word != "ASK") return std::nullopt;
    error_text.remove_prefix(error_text.empty() ? 0 : 1);
    const auto slot = whole_number<unsigned>(take_until(error_text, " "));
    error_text.remove_prefix(error_text.empty() ? 0 : 1);
    auto to = address_in(take_until(error_text, " "), said_by);
    if (!slot || *slot >= cluster_slots || !to) return std::nullopt;
    return redirection{word == "ASK" ? redirection::kinds::ask : redirection::kinds::moved, *slot, std::move(*to)};
}

}  // namespace tranca
