#include "support/deaf_listener.hpp"

#include <sys/socket.h>

namespace tranca::testing {

deaf_listener::deaf_listener() : where_{address::tcp(free_port())}, listener_{listen_on(where_, 0)} {
    queue_.push_back(connect_to(where_));  // a queue of length 0 holds one; the next SYN is dropped
}

}  // namespace tranca::testing
