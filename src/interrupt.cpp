#include <tranca/interrupt.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "ready.hpp"

namespace tranca {

interrupt::interrupt() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "making an interrupt");
}

interrupt::interrupt(const std::stop_token& stop, const std::stop_token& closing) : interrupt() {
    on_stop_.emplace(stop, raiser{this});
    on_closing_.emplace(closing, raiser{this});
}

interrupt::~interrupt() {
    on_stop_.reset();
    on_closing_.reset();
    ::close(descriptor_);
}

void interrupt::raise() const noexcept {
    if (raised_.exchange(true, std::memory_order_acq_rel)) return;
    const std::uint64_t one = 1;
    static_cast<void>(::write(descriptor_, &one, sizeof one));
}

void interrupt::clear() const noexcept {
    std::uint64_t count = 0;
    static_cast<void>(::read(descriptor_, &count, sizeof count));
    raised_.store(false, std::memory_order_release);
}

bool interrupt::wait_until(clock::time_point when) const noexcept {
    while (!raised())
        if (!wait_readable(-1, descriptor_, when)) return false;
    return true;
}

}  // namespace tranca
