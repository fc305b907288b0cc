#include <tranca/client.hpp>

#include <utility>

namespace tranca {

namespace {

std::shared_ptr<connection_pool> make_pool(std::string_view url, client_options options) {
    if (sentinel_endpoint::is_meant_by(url))
        return std::make_shared<connection_pool>(sentinel_endpoint::parse(url), std::move(options));
    if (cluster_endpoint::is_meant_by(url))
        return std::make_shared<connection_pool>(cluster_endpoint::parse(url), std::move(options));
    return std::make_shared<connection_pool>(endpoint::parse(url), std::move(options));
}

}  // namespace

client::client(std::string_view url, client_options options) : pool_(make_pool(url, std::move(options))) {}

client::client(endpoint where, client_options options)
    : pool_(std::make_shared<connection_pool>(std::move(where), std::move(options))) {}

client::client(sentinel_endpoint where, client_options options)
    : pool_(std::make_shared<connection_pool>(std::move(where), std::move(options))) {}

client::client(cluster_endpoint where, client_options options)
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
    const auto about = pool_->is_cluster() ? command.first_key() : std::string_view{};
    return pool_->with_connection(resend::unsafe, about, [&](connection& redis) {
        auto answer = redis.command(command);
        if (command.changes_connection()) redis.retire();
        return answer;
    });
}

}  // namespace tranca
