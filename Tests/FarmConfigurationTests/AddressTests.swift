import Foundation
import Testing

@testable import FarmConfiguration

struct HostPortTests {
    @Test(arguments: [
        ("h", "h:443"), ("h:1", "h:1"), ("h.example:65535", "h.example:65535"), ("[::1]", "[::1]:443"),
        ("[fe80::1%eth0]:8443", "[fe80::1%eth0]:8443"),
    ])
    func `reads names and addresses`(text: String, shown: String) {
        #expect(HostPort(text, defaultPort: 443)?.description == shown)
    }

    @Test(arguments: [
        "", ":1", "h:", "h:0", "h:65536", "h:+1", "h:1:2", "::1", "[::1", "[h]", "[::1]1", "a b", "h\u{0}",
    ])
    func `refuses any other text`(text: String) {
        #expect(HostPort(text, defaultPort: 443) == nil)
    }

    @Test func `a port may be required`() {
        #expect(HostPort("h", defaultPort: nil) == nil)
    }
}

struct RedisLocationTests {
    @Test(arguments: [
        ("redis://h", "redis://h:6379/0"), ("redis://:p@h:1/3", "redis://:***@h:1/3"),
        ("unix:///run/r.sock", "unix:///run/r.sock"),
        ("unix://var/r.sock?db=2", "unix:///base/var/r.sock?db=2"),
        ("unix://./r.sock", "unix:///base/r.sock"), ("unix:///run/a%20b%3f.sock", "unix:///run/a b?.sock"),
        ("unix://u:p@/run/r.sock", "unix://u:***@/run/r.sock"),
    ])
    func `reads all forms and hides the password`(text: String, shown: String) throws {
        #expect(try RedisLocation(text, relativeTo: "/base").description == shown)
    }

    @Test(arguments: [
        "unix://", "unix:///run/", "unix:///run/%zz", "unix:///run/a%00b",
        "unix:///" + String(repeating: "a", count: 110), "redis://h?x=1",
    ])
    func `refuses text that names no socket and no host`(text: String) {
        #expect(throws: InvalidValue.self) { try RedisLocation(text, relativeTo: "/base") }
    }

    @Test func `the password and CA of the file are not sent to an address from elsewhere`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/pf-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["file", "variable"] {
            try Data("the \(name)'s\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        let text = """
            redis: rediss://127.0.0.1:1/0
            redis_ca_file: ca.pem
            redis_password_file: \(folder)/file
            """
        let other = Override(key: "redis", text: "redis://127.0.0.1:2/0", flag: "--redis")
        let own = try #require(try read(text).redis)
        #expect(own.password == Password("the file's") && own.caFile == "/srv/etc/ca.pem")
        for (variables, overrides) in [(["PUSHFARM_REDIS": other.text], []), ([:], [other])] {
            let farm = try read(text, variables, overrides)
            #expect(farm.redis?.endpoint == .tcp(HostPort(host: "127.0.0.1", port: 2)))
            #expect(farm.redis?.password == nil && farm.redis?.caFile == nil)
            #expect(farm.redisPasswordFile == nil)
        }
        // The layers are the file, the environment and the options, from low to high. A password is used only if it comes from
        // the address's layer or from a higher layer.
        let named = ["PUSHFARM_REDIS_PASSWORD_FILE": folder + "/variable"]
        #expect(try read(text, named).redis?.password == Password("the variable's"))
        let both = named.merging(["PUSHFARM_REDIS": "redis://127.0.0.1:2/0"]) { $1 }
        #expect(try read(text, both).redis?.password == Password("the variable's"))
    }
}
