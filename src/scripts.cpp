#include <tranca/scripts.hpp>

#include "lua_scripts.hpp"

namespace tranca::scripts {

// Never destroyed: a guard may release while the process exits.
const repeatable_script& release_lock() {
    static const auto& instance = *new repeatable_script{lua::release_lock};
    return instance;
}

const repeatable_script& extend_lock() {
    static const auto& instance = *new repeatable_script{lua::extend_lock};
    return instance;
}

const repeatable_script& check_lock() {
    static const auto& instance = *new repeatable_script{lua::check_lock};
    return instance;
}

const repeatable_script& release_slot() {
    static const auto& instance = *new repeatable_script{lua::release_slot};
    return instance;
}

const repeatable_script& refresh_slot() {
    static const auto& instance = *new repeatable_script{lua::refresh_slot};
    return instance;
}

}  // namespace tranca::scripts
