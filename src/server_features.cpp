#include <tranca/server_features.hpp>

#include <algorithm>

namespace tranca {

namespace {

bool is_text(const reply_view& answer) {
    return answer.what() == reply_view::kind::text || answer.what() == reply_view::kind::status;
}

// Does any text in the answer, however deep, satisfy this?
bool any_text(const reply_view& answer, bool (*wanted)(std::string_view)) {
    if (is_text(answer)) return wanted(answer.text());
    if (answer.what() != reply_view::kind::array) return false;
    for (std::size_t i = 0; i < answer.size(); ++i)
        if (any_text(answer[i], wanted)) return true;
    return false;
}

bool tells_nx_with_get(std::string_view text) {
    const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    return has("NX") && has("GET") && has("together");
}

bool tells_if_equal(std::string_view text) { return text == "IFEQ"; }

// COMMAND INFO answers nil for a command that there is not.
bool is_there(const reply_view& info, std::size_t index) {
    return info.what() == reply_view::kind::array && index < info.size() &&
           info[index].what() == reply_view::kind::array && info[index].size() > 0;
}

}  // namespace

request features_question() { return request{"COMMAND", "DOCS", "SET"}.add("COMMAND", "INFO", "DELEX", "DELIFEQ"); }

server_features features_from(const reply_view& docs_of_set, const reply_view& info) {
    return {.set_nx_get = any_text(docs_of_set, tells_nx_with_get),
            .if_equal = any_text(docs_of_set, tells_if_equal),
            .delex = is_there(info, 0),
            .delifeq = is_there(info, 1)};
}

}  // namespace tranca
