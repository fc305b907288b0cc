#pragma once

// Names of the helper keys of a primitive: in the same Cluster slot as its main key, and never another primitive's.
//
//     helper_key("lock:invoices", "wake");      // {lock:invoices}:wake
//     helper_key("lock:{shop}:7", "wake");      // {shop}:wake:lock:{shop}:7
//
// Promises: two main keys never share a helper key; a helper key begins with a brace, so it is no main key either as long
// as the prefix is not empty.
// Does not promise that for an empty prefix: then a lock named "{a}:wake" is a helper key of the lock "a".
// Source: Redis Cluster specification, "Hash tags".

#include <string>
#include <string_view>

#include <tranca/key.hpp>
#include <tranca/token.hpp>

namespace tranca {

/// `prefix` + `name` as the main key of a primitive that has helper keys. Throws errc::invalid_argument for an empty name
/// or one whose braces form no proper hash tag. No I/O.
[[nodiscard]] inline key main_key_for(std::string_view prefix, std::string_view name) {
    auto whole = prefixed_key(prefix, name);
    require_proper_hash_tag(whole.bytes());
    return whole;
}

/// The helper key `role` of a main key. Pure.
[[nodiscard]] inline std::string helper_key(std::string_view main_key, std::string_view role) {
    const auto tag = hash_tag(main_key);
    std::string made;
    made.reserve(main_key.size() + tag.size() + role.size() + 4);
    made.append("{").append(tag).append("}:").append(role);
    if (tag.size() != main_key.size()) made.append(":").append(main_key);
    return made;
}

/// A list for one waiter alone. Pure.
[[nodiscard]] inline std::string list_of_its_own(std::string_view wake_key, const token& owner) {
    return std::string{wake_key}.append(":").append(owner.text());
}

}  // namespace tranca
