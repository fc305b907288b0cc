#include "support/tls_certificates.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/process.hpp"

namespace tranca::testing {

tls_certificates::tls_certificates() {
    make_authority("ca");
    make_authority("unrelated");
    sign("server", "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n");
    sign("client", "extendedKeyUsage=clientAuth\n");
}

void tls_certificates::make_authority(const std::string& name) const {
    openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
             "-subj", "/CN=" + name, "-keyout", home_ / (name + ".key"), "-out", home_ / (name + ".crt")});
}

void tls_certificates::sign(const std::string& name, const std::string& extensions) const {
    std::ofstream{home_ / (name + ".ext")} << extensions;
    openssl({"req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
             "/CN=" + name, "-keyout", home_ / (name + ".key"), "-out", home_ / (name + ".csr")});
    openssl({"x509", "-req", "-days", "30", "-in", home_ / (name + ".csr"), "-CA", home_ / "ca.crt", "-CAkey",
             home_ / "ca.key", "-set_serial", name == "server" ? "1" : "2", "-extfile", home_ / (name + ".ext"), "-out",
             home_ / (name + ".crt")});
}

void tls_certificates::openssl(std::vector<std::string> words) const {
    words.insert(words.begin(), "openssl");
    auto run = process::start(words, {.output = home_ / "openssl.log"});
    const auto status = run.wait(std::chrono::seconds{30});
    if (!status || !status->ok()) {
        std::ostringstream log;
        log << std::ifstream{home_ / "openssl.log"}.rdbuf();
        throw std::runtime_error{"openssl " + words.at(1) + " failed:\n" + log.str()};
    }
}

}  // namespace tranca::testing
