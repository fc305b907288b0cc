// tls_certificates: a CA, a server and a client certificate made on the spot, and a CA that signed none of them.
//
//     const tls_certificates certificates;                        // some 50 ms, by the openssl program
//     redis_server server{{.tls = &certificates}};
//     client redis{server.tls_url() + "?ca_file=" + certificates.ca().string()};
//
// EC keys; the server's names are localhost and 127.0.0.1.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace tranca::testing {

class tls_certificates {
public:
    tls_certificates();

    [[nodiscard]] std::filesystem::path ca() const { return home_ / "ca.crt"; }
    [[nodiscard]] std::filesystem::path unrelated_ca() const { return home_ / "unrelated.crt"; }
    [[nodiscard]] std::filesystem::path server_certificate() const { return home_ / "server.crt"; }
    [[nodiscard]] std::filesystem::path server_key() const { return home_ / "server.key"; }
    [[nodiscard]] std::filesystem::path client_certificate() const { return home_ / "client.crt"; }
    [[nodiscard]] std::filesystem::path client_key() const { return home_ / "client.key"; }

private:
    void make_authority(const std::string& name) const;
    void sign(const std::string& name, const std::string& extensions) const;
    void openssl(std::vector<std::string> words) const;

    temporary_directory home_;
};

}  // namespace tranca::testing
