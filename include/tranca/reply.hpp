#pragma once

// What Redis answered.
//
//     auto answer = redis.command("GET", "a");
//     if (!answer.is_nil()) use(answer.text());
//     auto both = tranca::reply::parse("*2\r\n:1\r\n$-1\r\n");      // both[0].integer() == 1, both[1].is_nil()
//
// Promises: asking for the wrong kind is an error (errc::protocol), never a made-up value. RESP3's kinds are folded into
// these: maps, sets and pushes are arrays, doubles and big numbers text, booleans integers, its null is nil.
// Does not promise that views outlive the reply they look into.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

struct redisReply;

namespace tranca {

/// A look at a reply or at an element of one. As cheap to copy as a pointer; no I/O.
class reply_view {
public:
    enum class kind { nil, integer, text, status, error, array };

    explicit reply_view(const redisReply* raw) noexcept : raw_(raw) {}

    [[nodiscard]] kind what() const noexcept;
    [[nodiscard]] bool is_nil() const noexcept { return what() == kind::nil; }
    [[nodiscard]] bool is_error() const noexcept { return what() == kind::error; }

    /// True for the status reply "OK".
    [[nodiscard]] bool is_ok() const noexcept;

    /// The number; throws errc::protocol if this is not an integer reply.
    [[nodiscard]] std::int64_t integer() const;

    /// The bytes of a text, status or error reply; throws errc::protocol for any other kind.
    [[nodiscard]] std::string_view text() const;

    /// How many elements an array has; throws errc::protocol if this is not an array.
    [[nodiscard]] std::size_t size() const;

    /// An element of an array; throws errc::protocol if there is none.
    [[nodiscard]] reply_view operator[](std::size_t index) const;

private:
    const redisReply* raw_;
};

/// A reply and the memory it lives in. Move-only.
class reply : public reply_view {
public:
    /// Takes over a reply made by hiredis.
    explicit reply(redisReply* raw) noexcept : reply_view(raw), memory_(raw) {}

    /// Decodes one whole reply from bytes as they come over the wire; throws errc::protocol if they are not one. No I/O.
    [[nodiscard]] static reply parse(std::string_view bytes);

private:
    struct freed_by_hiredis {
        void operator()(redisReply* raw) const noexcept;
    };

    std::unique_ptr<redisReply, freed_by_hiredis> memory_;
};

}  // namespace tranca
