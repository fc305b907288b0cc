#include <tranca/fenced.hpp>

#include <tranca/scripts.hpp>

namespace tranca {

bool fenced_write(const client& redis, std::string_view resource, std::uint64_t fence, std::string_view value) {
    const key where{std::string{resource}};
    return run(*redis.pool(), scripts::fenced_write().call({where.bytes()}, fence, value)).integer() == 1;
}

fenced_value fenced_read(const client& redis, std::string_view resource, std::uint64_t fence) {
    const key where{std::string{resource}};
    const auto answer = run(*redis.pool(), scripts::fenced_read().call({where.bytes()}, fence));
    if (answer.what() == reply_view::kind::integer) return {.refused = true};
    if (answer.size() == 0) return {};
    return {.value = std::string{answer[0].text()}};
}

}  // namespace tranca
