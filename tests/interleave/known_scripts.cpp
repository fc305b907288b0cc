#include "interleave/known_scripts.hpp"

#include <vector>

#include <tranca/scripts.hpp>

namespace tranca::interleave {

namespace {

struct named_script {
    std::string_view name;
    const repeatable_script& script;
};

const std::vector<named_script>& known_scripts() {
    static const std::vector<named_script> all{{"release_lock", scripts::release_lock()},
                                               {"release_slot", scripts::release_slot()},
                                               {"acquire_mutex", scripts::acquire_mutex()},
                                               {"acquire_unfenced", scripts::acquire_unfenced()},
                                               {"release_mutex", scripts::release_mutex()},
                                               {"extend_mutex", scripts::extend_mutex()},
                                               {"fenced_read", scripts::fenced_read()},
                                               {"fenced_write", scripts::fenced_write()},
                                               {"acquire_fair_mutex", scripts::acquire_fair_mutex()},
                                               {"release_fair_mutex", scripts::release_fair_mutex()},
                                               {"acquire_permits", scripts::acquire_permits()},
                                               {"release_permits", scripts::release_permits()},
                                               {"acquire_fair_permits", scripts::acquire_fair_permits()},
                                               {"release_fair_permits", scripts::release_fair_permits()},
                                               {"acquire_multi", scripts::acquire_multi()},
                                               {"release_multi", scripts::release_multi()},
                                               {"acquire_shared", scripts::acquire_shared()},
                                               {"release_shared", scripts::release_shared()},
                                               {"extend_shared", scripts::extend_shared()},
                                               {"upgrade_shared", scripts::upgrade_shared()},
                                               {"downgrade_shared", scripts::downgrade_shared()}};
    return all;
}

}  // namespace

std::string name_of_script(std::string_view hash_or_text) {
    for (const auto& each : known_scripts())
        if (hash_or_text == each.script.hash() || hash_or_text == each.script.text()) return std::string{each.name};
    return "a script";
}

void load_all(testing::raw_client& raw) {
    for (const auto& each : known_scripts())
        raw.must({"SCRIPT", "LOAD", std::string{each.script.text()}});
}

}  // namespace tranca::interleave
