#include "tls.hpp"

#include <fmt/format.h>

#include <tranca/error.hpp>

#ifdef TRANCA_WITH_TLS

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "pipe_signal.hpp"

namespace tranca {

namespace {

using ssl_context = std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)>;
using ssl_session = std::unique_ptr<SSL, decltype(&::SSL_free)>;

[[noreturn]] void refuse(const endpoint& where, std::string_view reason) {
    throw error(errc::tls_failed, fmt::format("starting TLS with {}: {}", where.printable(), reason));
}

std::string openssl_reason() {
    const auto code = ::ERR_get_error();
    ::ERR_clear_error();
    const char* const reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
    return reason == nullptr ? "unknown reason" : reason;
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

void trust(SSL_CTX* context, const endpoint& where) {
    const auto& tls = where.tls;
    if (!tls.verify) {
        ::SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
        return;
    }
    ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    const bool of_system = tls.ca_file.empty() && tls.ca_directory.empty();
    const int loaded = of_system
                           ? ::SSL_CTX_set_default_verify_paths(context)
                           : ::SSL_CTX_load_verify_locations(context, or_null(tls.ca_file), or_null(tls.ca_directory));
    if (loaded != 1)
        refuse(where, "the trusted authorities (ca_file, ca_directory) cannot be read: " + openssl_reason());
}

void identify(SSL_CTX* context, const endpoint& where) {
    const auto& tls = where.tls;
    if (tls.certificate.empty()) return;
    if (::SSL_CTX_use_certificate_chain_file(context, tls.certificate.c_str()) != 1)
        refuse(where, "the certificate cannot be read: " + openssl_reason());
    if (::SSL_CTX_use_PrivateKey_file(context, tls.private_key.c_str(), SSL_FILETYPE_PEM) != 1)
        refuse(where, "the private_key cannot be read or does not fit the certificate: " + openssl_reason());
}

bool is_address(const std::string& host) {
    in6_addr buffer{};
    return ::inet_pton(AF_INET, host.c_str(), &buffer) == 1 || ::inet_pton(AF_INET6, host.c_str(), &buffer) == 1;
}

// SNI tells the server which name we mean; the check below holds it to that name.
void expect_name(SSL* session, const endpoint& where) {
    const auto& name = where.tls.server_name.empty() ? where.host : where.tls.server_name;
    auto* const rules = ::SSL_get0_param(session);
    if (is_address(name)) {
        ::X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str());
        return;
    }
    ::SSL_set_tlsext_host_name(session, name.c_str());
    ::X509_VERIFY_PARAM_set1_host(rules, name.c_str(), name.size());
}

ssl_session session_for(const endpoint& where) {
    const ssl_context context{::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free};
    if (!context) refuse(where, openssl_reason());
    ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    trust(context.get(), where);
    identify(context.get(), where);
    ssl_session session{::SSL_new(context.get()), &::SSL_free};
    if (!session) refuse(where, openssl_reason());
    expect_name(session.get(), where);
    return session;
}

[[noreturn]] void refuse_handshake(SSL* session, const endpoint& where, std::string_view reason) {
    const auto verdict = ::SSL_get_verify_result(session);
    if (verdict == X509_V_OK) refuse(where, reason);
    refuse(where, fmt::format("the server's certificate: {}", ::X509_verify_cert_error_string(verdict)));
}

// hiredis makes the first step of the handshake, whatever was done before, and takes over the session.
SSL* hand_over(ssl_session session, redisContext& context, const endpoint& where) {
    const pipe_signal_block no_signal;
    if (::redisInitiateSSL(&context, session.get()) != REDIS_OK) refuse_handshake(session.get(), where, context.errstr);
    return session.release();
}

void shake_hands(SSL* session, const stream_socket& line, const endpoint& where, clock::time_point deadline) {
    for (;;) {
        ::ERR_clear_error();
        int system_failure = 0;
        const int outcome = [&] {
            const pipe_signal_block no_signal;
            const int reached = ::SSL_connect(session);
            system_failure = errno;
            return reached;
        }();
        if (outcome == 1) return;
        const int wanted = ::SSL_get_error(session, outcome);
        const bool of_system = wanted == SSL_ERROR_SYSCALL && system_failure != 0;
        if (wanted != SSL_ERROR_WANT_READ && wanted != SSL_ERROR_WANT_WRITE)
            refuse_handshake(session, where, of_system ? std::strerror(system_failure) : openssl_reason());
        if (!line.wait_ready(wanted == SSL_ERROR_WANT_WRITE, deadline)) refuse(where, "no answer in time");
    }
}

}  // namespace

tls_session::tls_session(redisContext& context, stream_socket& line, const endpoint& where, clock::time_point deadline)
    : context_(&context), line_(&line) {
    ::fcntl(line.descriptor(), F_SETFL, ::fcntl(line.descriptor(), F_GETFL) | O_NONBLOCK);
    context.flags &= ~REDIS_BLOCK;
    shake_hands(hand_over(session_for(where), context, where), line, where, deadline);
}

socket_outcome tls_session::send_all(std::string_view bytes, clock::time_point deadline, std::size_t& sent) {
    sent = 0;
    if (::redisAppendFormattedCommand(context_, bytes.data(), bytes.size()) != REDIS_OK) return socket_outcome::closed;
    sent = 1;  // whatever happens, some of it may be on its way
    for (int done = 0;;) {
        const int outcome = [&] {
            const pipe_signal_block no_signal;
            return ::redisBufferWrite(context_, &done);
        }();
        if (outcome != REDIS_OK) return socket_outcome::closed;
        if (done != 0) break;
        if (!line_->wait_ready(true, deadline)) return socket_outcome::timed_out;
    }
    sent = bytes.size();
    return socket_outcome::done;
}

socket_outcome tls_session::receive(clock::time_point deadline) {
    if (!line_->wait_ready(false, deadline)) return socket_outcome::timed_out;
    const pipe_signal_block no_signal;  // TLS may have to write in order to read
    return ::redisBufferRead(context_) == REDIS_OK ? socket_outcome::done : socket_outcome::closed;
}

std::string tls_session::last_failure() const { return context_->errstr; }

}  // namespace tranca

#else

namespace tranca {

tls_session::tls_session(redisContext& context, stream_socket& line, const endpoint& where, clock::time_point)
    : context_(&context), line_(&line) {
    throw error(
        errc::tls_failed,
        fmt::format(
            "starting TLS with {}: this build of tranca has no TLS, since the hiredis it was built with ({}.{}.{}) "
            "comes without hiredis_ssl",
            where.printable(), HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH));
}

socket_outcome tls_session::send_all(std::string_view, clock::time_point, std::size_t&) {
    return socket_outcome::closed;
}
socket_outcome tls_session::receive(clock::time_point) { return socket_outcome::closed; }
std::string tls_session::last_failure() const { return {}; }

}  // namespace tranca

#endif
