#include <tranca/reply.hpp>

#include <new>
#include <string>

#include <tranca/error.hpp>

#include "hiredis_api.hpp"
#include "reader_bounds.hpp"

namespace tranca {

namespace {

[[noreturn]] void refuse_kind(const char* wanted) {
    throw error(errc::protocol, std::string{"a reply is not what was asked for: expected "} + wanted);
}

}  // namespace

reply_view::kind reply_view::what() const noexcept {
    switch (raw_->type) {
    case REDIS_REPLY_NIL: return kind::nil;
    case REDIS_REPLY_INTEGER: return kind::integer;
    case REDIS_REPLY_STATUS: return kind::status;
    case REDIS_REPLY_ERROR: return kind::error;
    case REDIS_REPLY_ARRAY: return kind::array;
#ifdef REDIS_REPLY_MAP  // RESP3, from hiredis 1.0 on
    case REDIS_REPLY_MAP:
    case REDIS_REPLY_SET:
    case REDIS_REPLY_ATTR:
    case REDIS_REPLY_PUSH: return kind::array;
    case REDIS_REPLY_BOOL: return kind::integer;
#endif
    default: return kind::text;  // strings, and RESP3's doubles, big numbers and verbatim strings
    }
}

bool reply_view::is_ok() const noexcept {
    return what() == kind::status && std::string_view{raw_->str, static_cast<std::size_t>(raw_->len)} == "OK";
}

std::int64_t reply_view::integer() const {
    if (what() != kind::integer) refuse_kind("a number");
    return raw_->integer;
}

std::string_view reply_view::text() const {
    const auto found = what();
    if (found != kind::text && found != kind::status && found != kind::error) refuse_kind("text");
    return {raw_->str, static_cast<std::size_t>(raw_->len)};
}

std::size_t reply_view::size() const {
    if (what() != kind::array) refuse_kind("an array");
    return static_cast<std::size_t>(raw_->elements);
}

reply_view reply_view::operator[](std::size_t index) const {
    if (index >= size()) refuse_kind("a longer array");
    return reply_view{raw_->element[index]};
}

void reply::freed_by_hiredis::operator()(redisReply* raw) const noexcept { ::freeReplyObject(raw); }

reply reply::parse(std::string_view bytes) {
    const hiredis_reader reader{::redisReaderCreate()};
    if (!reader) throw std::bad_alloc{};
    set_bounds(*reader);
    void* found = nullptr;
    if (::redisReaderFeed(reader.get(), bytes.data(), bytes.size()) != REDIS_OK ||
        ::redisReaderGetReply(reader.get(), &found) != REDIS_OK)
        throw error(errc::protocol, std::string{"decoding a reply: "} + reader->errstr);
    if (found == nullptr) throw error(errc::protocol, "decoding a reply: it is not complete");
    reply whole{static_cast<redisReply*>(found)};
    if (reader->pos != reader->len) throw error(errc::protocol, "decoding a reply: bytes follow it");
    return whole;
}

}  // namespace tranca
