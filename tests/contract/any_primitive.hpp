// any_primitive: any acquirable behind one type, so that the contract is compiled once and not once a primitive.
//
//     const any_primitive lock{ladder::px_lock{redis, "a"}};
//     auto held = lock.try_acquire_for(10ms);
//
// Passes every call on as it comes. Is a model of `acquirable` itself, so that lockable and with() take it.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <tranca/acquirable.hpp>

namespace tranca::contract {

class any_primitive {
public:
    using fraction = std::chrono::duration<double>;

    // Itself is excluded first: copying it must not ask whether it can be copied.
    template <class Primitive>
        requires(!std::same_as<Primitive, any_primitive> && acquirable<Primitive>)
    explicit any_primitive(Primitive primitive) : inside_(std::make_shared<holder<Primitive>>(std::move(primitive))) {}

    [[nodiscard]] guard acquire(std::stop_token stop = {}) const { return inside_->acquire(std::move(stop)); }
    [[nodiscard]] std::optional<guard> try_acquire() const { return inside_->try_acquire(); }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<guard> try_acquire_for(std::chrono::duration<Rep, Period> wait,
                                                       std::stop_token stop = {}) const {
        if constexpr (std::same_as<decltype(wait), milliseconds>)
            return inside_->try_acquire_for(wait, std::move(stop));
        else return inside_->try_acquire_for_fraction(fraction{wait}, std::move(stop));
    }
    [[nodiscard]] std::optional<guard> try_acquire_until(clock::time_point deadline, std::stop_token stop = {}) const {
        return inside_->try_acquire_until(deadline, std::move(stop));
    }

private:
    struct interface {
        virtual ~interface() = default;
        virtual guard acquire(std::stop_token stop) const = 0;
        virtual std::optional<guard> try_acquire() const = 0;
        virtual std::optional<guard> try_acquire_for(milliseconds wait, std::stop_token stop) const = 0;
        virtual std::optional<guard> try_acquire_for_fraction(fraction wait, std::stop_token stop) const = 0;
        virtual std::optional<guard> try_acquire_until(clock::time_point deadline, std::stop_token stop) const = 0;
    };

    template <class Primitive>
    struct holder final : interface {
        explicit holder(Primitive made) : primitive(std::move(made)) {}

        guard acquire(std::stop_token stop) const override { return primitive.acquire(std::move(stop)); }
        std::optional<guard> try_acquire() const override { return primitive.try_acquire(); }
        std::optional<guard> try_acquire_for(milliseconds wait, std::stop_token stop) const override {
            return primitive.try_acquire_for(wait, std::move(stop));
        }
        std::optional<guard> try_acquire_for_fraction(fraction wait, std::stop_token stop) const override {
            return primitive.try_acquire_for(wait, std::move(stop));
        }
        std::optional<guard> try_acquire_until(clock::time_point deadline, std::stop_token stop) const override {
            return primitive.try_acquire_until(deadline, std::move(stop));
        }

        Primitive primitive;
    };

    std::shared_ptr<const interface> inside_;
};

static_assert(acquirable<any_primitive>);

}  // namespace tranca::contract
