#include <tranca/client.hpp>

#include <utility>

namespace tranca {

client::client(std::string_view url, client_options options) : client(endpoint::parse(url), std::move(options)) {}

client::client(endpoint where, client_options options)
    : pool_(std::make_shared<connection_pool>(std::move(where), std::move(options))) {}

client& client::operator=(client&& other) noexcept {
    if (this == &other) return *this;
    if (pool_) pool_->close();
    pool_ = std::move(other.pool_);
    return *this;
}

client::~client() {
    if (pool_) pool_->close();
}

reply client::run(const request& command) {
    return pool_->with_connection(resend::unsafe, [&](connection& redis) {
        auto answer = redis.command(command);
        if (command.changes_connection()) redis.retire();
        return answer;
    });
}

}  // namespace tranca
