#pragma once

// hiredis, from 0.14.1 to 1.3, as one API.

#include <hiredis/hiredis.h>

#include <memory>

#if HIREDIS_MAJOR == 0 && (HIREDIS_MINOR < 14 || (HIREDIS_MINOR == 14 && HIREDIS_PATCH < 1))
#error "tranca needs hiredis 0.14.1 or newer (Debian: libhiredis-dev)"
#endif

namespace tranca {

// The descriptor belongs to stream_socket, so it is kept open.
struct context_deleter {
    void operator()(redisContext* context) const noexcept { ::redisFreeKeepFd(context); }
};
using hiredis_context = std::unique_ptr<redisContext, context_deleter>;

struct reader_deleter {
    void operator()(redisReader* reader) const noexcept { ::redisReaderFree(reader); }
};
using hiredis_reader = std::unique_ptr<redisReader, reader_deleter>;

}  // namespace tranca
