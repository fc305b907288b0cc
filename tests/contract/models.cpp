#include "contract/models.hpp"

namespace tranca::contract {

const std::vector<model>& models() {
    static const std::vector<model> all{
        as_model<naive_lock_traits>(),      as_model<timeout_lock_traits>(),   as_model<px_lock_traits>(),
        as_model<clock_semaphore_traits>(), as_model<fair_semaphore_traits>(), as_model<guarded_semaphore_traits>(),
        as_model<mutex_traits>(),           as_model<semaphore_traits>(),      as_model<line_mutex_traits>(),
        as_model<line_semaphore_traits>(),  as_model<multi_mutex_traits>(),    as_model<shared_mutex_traits>(),
        as_model<shared_side_traits>(),     as_model<quorum_traits>(),
    };
    return all;
}

}  // namespace tranca::contract
