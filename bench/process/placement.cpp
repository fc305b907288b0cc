#include "process/placement.hpp"

#include <sched.h>

#include <cstddef>

namespace tranca::bench {

cores usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    cores found;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) {
        return {0};
    }
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(static_cast<std::size_t>(core), &set)) {
            found.push_back(core);
        }
    }
    return found;
}

bool pin(pid_t process, const cores& where) noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : where) {
        CPU_SET(static_cast<std::size_t>(core), &set);
    }
    return ::sched_setaffinity(process, sizeof set, &set) == 0;
}

}  // namespace tranca::bench
