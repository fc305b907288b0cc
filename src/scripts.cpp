#include <tranca/scripts.hpp>

#include "lua_scripts.hpp"

namespace tranca::scripts {

namespace {

// Never destroyed: a guard may release while the process exits.
template <const std::string_view& Text>
const repeatable_script& the_script() {
    static const auto& instance = *new repeatable_script{Text};
    return instance;
}

}  // namespace

const repeatable_script& release_lock() { return the_script<lua::release_lock>(); }
const repeatable_script& extend_lock() { return the_script<lua::extend_lock>(); }
const repeatable_script& check_lock() { return the_script<lua::check_lock>(); }
const repeatable_script& release_slot() { return the_script<lua::release_slot>(); }
const repeatable_script& refresh_slot() { return the_script<lua::refresh_slot>(); }
const repeatable_script& acquire_mutex() { return the_script<lua::acquire_mutex>(); }
const repeatable_script& acquire_unfenced() { return the_script<lua::acquire_unfenced>(); }
const repeatable_script& release_mutex() { return the_script<lua::release_mutex>(); }
const repeatable_script& acquire_fair_mutex() { return the_script<lua::acquire_fair_mutex>(); }
const repeatable_script& release_fair_mutex() { return the_script<lua::release_fair_mutex>(); }
const repeatable_script& extend_mutex() { return the_script<lua::extend_mutex>(); }
const repeatable_script& acquire_permits() { return the_script<lua::acquire_permits>(); }
const repeatable_script& release_permits() { return the_script<lua::release_permits>(); }
const repeatable_script& acquire_fair_permits() { return the_script<lua::acquire_fair_permits>(); }
const repeatable_script& release_fair_permits() { return the_script<lua::release_fair_permits>(); }
const repeatable_script& extend_permits() { return the_script<lua::extend_permits>(); }
const repeatable_script& limit_permits() { return the_script<lua::limit_permits>(); }
const repeatable_script& list_permits() { return the_script<lua::list_permits>(); }
const repeatable_script& acquire_multi() { return the_script<lua::acquire_multi>(); }
const repeatable_script& raise_multi() { return the_script<lua::raise_multi>(); }
const repeatable_script& release_multi() { return the_script<lua::release_multi>(); }
const repeatable_script& extend_multi() { return the_script<lua::extend_multi>(); }
const repeatable_script& acquire_shared() { return the_script<lua::acquire_shared>(); }
const repeatable_script& release_shared() { return the_script<lua::release_shared>(); }
const repeatable_script& extend_shared() { return the_script<lua::extend_shared>(); }
const repeatable_script& upgrade_shared() { return the_script<lua::upgrade_shared>(); }
const repeatable_script& downgrade_shared() { return the_script<lua::downgrade_shared>(); }
const repeatable_script& list_shared() { return the_script<lua::list_shared>(); }
const repeatable_script& acquire_quorum() { return the_script<lua::acquire_quorum>(); }
const repeatable_script& release_quorum() { return the_script<lua::release_quorum>(); }
const repeatable_script& raise_quorum() { return the_script<lua::raise_quorum>(); }
const repeatable_script& fenced_write() { return the_script<lua::fenced_write>(); }
const repeatable_script& fenced_read() { return the_script<lua::fenced_read>(); }

}  // namespace tranca::scripts
