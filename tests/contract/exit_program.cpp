// exit_program: a process that ends in one of several ways while a static guard holds a lock.
//
//     contract_exit_program URL return|exit|quick_exit|throw|abort
//
// The client stands before the guard, so that it is destroyed after it.
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <tranca/tranca.hpp>

namespace {

tranca::client& redis(const char* url) {
    static tranca::client instance{url};
    return instance;
}

tranca::guard& held() {
    static tranca::guard instance;
    return instance;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    auto& where = redis(argv[1]);
    held() = tranca::ladder::px_lock{where, "thing", {.lease = {.ttl = std::chrono::minutes{1}}}}.acquire();
    if (held().lost().stop_requested()) return 3;  // starts the timer thread, which must not be in the way
    const std::string_view way = argv[2];
    if (way == "exit") std::exit(0);
    if (way == "quick_exit") std::quick_exit(0);
    if (way == "throw") throw std::runtime_error{"nobody catches this"};
    if (way == "abort") std::abort();
    return 0;
}
