#pragma once

// Bounds on what a peer can make hiredis's parser do: an array's header of ten bytes makes it reserve (and in the end walk
// through) whatever number stands there, and it frees arrays in arrays by recursion.
//
//     set_bounds(*context->reader);
//
// Promises: no answer of Redis comes near the bounds; what exceeds them is a parser error (REDIS_ERR_OOM).

#include <cstddef>

#include "hiredis_api.hpp"

namespace tranca {

inline constexpr std::size_t most_elements = std::size_t{1} << 24U;
inline constexpr int deepest_array = 32;

/// What hiredis makes arrays with; set before the first use of the function below.
inline decltype(redisReplyObjectFunctions::createArray) make_array = nullptr;

// The type of the count depends on the version of hiredis.
template <class Count>
void* make_bounded_array(const redisReadTask* task, Count elements) {
    int depth = 0;
    for (const auto* outer = task->parent; outer != nullptr; outer = outer->parent)
        ++depth;
    const bool within = depth < deepest_array && static_cast<std::size_t>(elements) <= most_elements;
    return within ? make_array(task, elements) : nullptr;
}

/// Replaces the function by which `reader` makes arrays.
inline void set_bounds(redisReader& reader) {
    static auto bounded = [usual = *reader.fn]() mutable {
        make_array = usual.createArray;
        usual.createArray = &make_bounded_array;
        return usual;
    }();
    reader.fn = &bounded;
}

}  // namespace tranca
