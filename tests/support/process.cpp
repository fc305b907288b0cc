#include "support/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "support/deadline.hpp"
#include "support/lasting_thread.hpp"
#include "support/socket.hpp"

namespace tranca::testing {
namespace {

[[noreturn]] void fail(const std::string& what, int error = errno) {
    throw std::system_error{error, std::generic_category(), what};
}

// In the child. The parent may have died before the request reached the kernel.
void die_with(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(127);
    }
}

// Marks all descriptors but the standard ones, so that no connection of the test lives on in a server.
void close_the_rest_on_exec() {
    constexpr unsigned first = 3;
    constexpr unsigned on_exec = 4;  // CLOSE_RANGE_CLOEXEC
    if (::syscall(SYS_close_range, first, ~0U, on_exec) == 0) {
        return;
    }
    for (int fd = 3; fd < 4096; ++fd) {
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

struct program {
    std::vector<char*> words;
    const char* directory;
    int output;
    int failure;  // the write end of a pipe: errno when exec fails
    pid_t parent;
};

// In the child: async-signal-safe calls only.
[[noreturn]] void become(const program& what) {
    die_with(what.parent);
    ::setpgid(0, 0);  // Ctrl-C is for the test, which then takes its children along
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    if (what.output >= 0) {
        ::dup2(what.output, STDOUT_FILENO);
        ::dup2(what.output, STDERR_FILENO);
    }
    close_the_rest_on_exec();
    if (*what.directory == '\0' || ::chdir(what.directory) == 0) {
        ::execvp(what.words.front(), what.words.data());
    }
    const int error = errno;
    if (::write(what.failure, &error, sizeof error) < 0) {
        ::_exit(126);
    }
    ::_exit(127);
}

unique_fd open_output(const std::filesystem::path& path) {
    if (path.empty()) {
        return {};
    }
    unique_fd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
    if (!fd) {
        fail("open " + path.string());
    }
    return fd;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const exit_status& status) {
    return out << (status.by_signal ? "killed by signal " : "exited with ") << status.code;
}

process::process(pid_t pid) : pid_{pid}, owner_{::getpid()} {}

process::process(process&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)}, owner_{other.owner_}, frozen_{other.frozen_}, status_{other.status_} {}

process& process::operator=(process&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(owner_, other.owner_);
    std::swap(frozen_, other.frozen_);
    std::swap(status_, other.status_);
    return *this;
}

process::~process() {
    if (alive()) {
        kill_hard();
    }
}

process process::start(const std::vector<std::string>& words, const options& settings) {
    const unique_fd output = open_output(settings.output);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        fail("pipe");
    }
    const unique_fd reading{ends[0]};
    unique_fd writing{ends[1]};

    program what{{}, settings.directory.c_str(), output.get(), writing.get(), ::getpid()};
    for (const auto& word : words) {
        what.words.push_back(const_cast<char*>(word.c_str()));
    }
    what.words.push_back(nullptr);

    const pid_t child = on_lasting_thread([&what] {
        const pid_t pid = ::fork();
        if (pid == 0) {
            become(what);
        }
        return pid;
    });
    if (child < 0) {
        fail("fork");
    }
    writing.reset();
    process result{child};
    int error = 0;
    ssize_t got = 0;
    while ((got = ::read(reading.get(), &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (got > 0) {
        fail("cannot run " + words.at(0), error);
    }
    return result;
}

process process::fork(const std::function<int()>& body) {
    const pid_t parent = ::getpid();
    const pid_t child = on_lasting_thread([&body, parent] {
        const pid_t pid = ::fork();
        if (pid == 0) {
            die_with(parent);
            ::_exit(body());
        }
        return pid;
    });
    if (child < 0) {
        fail("fork");
    }
    return process{child};
}

bool process::alive() const { return pid_ > 0 && owner_ == ::getpid() && !status_; }

void process::look(int flags) {
    int status = 0;
    pid_t who = 0;
    while ((who = ::waitpid(pid_, &status, flags)) < 0 && errno == EINTR) {
    }
    if (who < 0) {
        fail("waitpid");
    }
    if (who == 0) {
        return;
    }
    if (WIFSTOPPED(status)) {
        frozen_ = true;
    } else {
        status_ = WIFSIGNALED(status) ? exit_status{.by_signal = true, .code = WTERMSIG(status)}
                                      : exit_status{.by_signal = false, .code = WEXITSTATUS(status)};
    }
}

bool process::running() {
    if (alive()) {
        look(WNOHANG);
    }
    return alive();
}

void process::freeze() {
    if (frozen_ || !running()) {
        return;
    }
    signal(SIGSTOP);
    while (!frozen_ && alive()) {
        look(WUNTRACED);
    }
}

void process::resume() {
    frozen_ = false;
    signal(SIGCONT);
}

void process::signal(int number) {
    if (alive()) {
        ::kill(pid_, number);
    }
}

exit_status process::kill_hard() {
    signal(SIGKILL);
    while (alive()) {
        look(0);
    }
    frozen_ = false;
    return status_.value_or(exit_status{});
}

std::optional<exit_status> process::wait(std::chrono::milliseconds limit) {
    static_cast<void>(eventually(limit, [this] { return !running(); }));
    return status_;
}

exit_status process::end(std::chrono::milliseconds grace) {
    signal(SIGTERM);
    resume();
    const auto status = wait(grace);
    return status ? *status : kill_hard();
}

bool is_alive(pid_t pid) {
    std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text;
    std::getline(stat, text);
    const auto state = text.rfind(") ");  // the name before it may hold anything
    return state != std::string::npos && text[state + 2] != 'Z' && text[state + 2] != 'X';
}

}  // namespace tranca::testing
