#include "interleave/leases.hpp"

namespace tranca::interleave {

namespace {

// KEYS: locks. ARGV: ms. A key without ttl has no end.
const std::string end_locks = R"(
local ended = {}
for _, key in ipairs(KEYS) do
  local left = redis.call('PTTL', key)
  if left >= 0 and left <= tonumber(ARGV[1]) then
    ended[#ended + 1] = redis.call('GET', key)
    redis.call('DEL', key)
  end
end
return ended)";

// KEYS: sorted sets. What has ended stays in them until somebody throws it out.
const std::string end_permits = R"(
local ended = {}
for _, key in ipairs(KEYS) do
  local first = redis.call('ZRANGEBYSCORE', key, 2, '+inf', 'LIMIT', 0, 1)[1]
  if first then
    redis.call('ZADD', key, 1, first)
    ended[#ended + 1] = first
  end
end
return ended)";

// KEYS: hashes with TOKEN: 'end|...' for each holder. The key goes with the last of them.
const std::string end_readers = R"(
local ended = {}
for _, key in ipairs(KEYS) do
  local all, least, who, count = redis.call('HGETALL', key), math.huge, nil, 0
  for i = 1, #all, 2 do
    local over = #all[i] == 32 and tonumber(string.match(all[i + 1], '^(%d+)|'))
    if over and over > 1 then
      count = count + 1
      if over < least then least, who = over, i end
    end
  end
  if who then
    ended[#ended + 1] = all[who]
    redis.call('HSET', key, all[who], (string.gsub(all[who + 1], '^%d+', '1')), 'first', 1)
    if count == 1 then redis.call('DEL', key) end
  end
end
return ended)";

// KEYS: hashes with, among other things, until when somebody waits: as writers, upgrade or kept, or for a TOKEN.
const std::string end_all_claims = R"(
for _, key in ipairs(KEYS) do
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    local is_moment = all[i] == 'writers' or all[i] == 'upgrade' or all[i] == 'kept'
    if is_moment then redis.call('HSET', key, all[i], 0) end
    if #all[i] == 32 and tonumber(all[i + 1]) then redis.call('HDEL', key, all[i]) end
  end
end
return {})";

void run(testing::raw_client& raw, const std::string& script, const std::vector<std::string>& keys,
         std::chrono::milliseconds span, std::vector<std::string>& ended) {
    if (keys.empty()) return;
    testing::command_text words{"EVAL", script, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.push_back(std::to_string(span.count()));
    for (const auto& each : raw.must(words).items)
        ended.push_back(each.text);
}

}  // namespace

std::vector<std::string> leases::end_first(testing::raw_client& raw, std::chrono::milliseconds span) const {
    std::vector<std::string> ended;
    run(raw, end_locks, locks, span, ended);
    run(raw, end_permits, permits, span, ended);
    run(raw, end_readers, readers, span, ended);
    return ended;
}

void leases::end_claims(testing::raw_client& raw) const {
    std::vector<std::string> nobody;
    run(raw, end_all_claims, claims, {}, nobody);
}

}  // namespace tranca::interleave
